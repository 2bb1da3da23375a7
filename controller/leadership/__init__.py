"""Which of several controllers rules the switches."""

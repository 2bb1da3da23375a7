"""One switch: its connection, what it should hold, and what is read back from it."""

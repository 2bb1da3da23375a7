"""What one switch should hold: every part of the configuration written through the owners."""

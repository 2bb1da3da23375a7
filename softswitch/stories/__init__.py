"""Stories of packets: what a packet passed in a program, what it changed there, and its copies."""

"""The controller's own code in virtual time, and its P4Runtime channels to the switches."""

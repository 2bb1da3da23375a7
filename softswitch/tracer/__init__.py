"""`fcn trace`: stories of packets, of a switch that runs or of a program alone."""

"""Building the P4 programs: p4c for BMv2, p4c-barefoot and bfas for Tofino."""

"""A switch for the packet tests: the model of Tofino 1 behind the softswitch's P4Runtime server.

The model is the vendor's, of which the source is public; the driver here writes what a program's
context.json says into the memories of pipe 0 (docs/tofino.md).
"""

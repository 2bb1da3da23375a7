"""What a pipeline may contain at most.

They bound the memory and time a pipeline costs, with room for programs several times as large as
those of this project; docs/softswitch.md lists them.
"""

TEXT_OCTETS = 8 << 20
"""The whole JSON."""
DEPTH = 96
"""Objects and arrays within each other; what reads and translates expressions is recursive."""
NAME = 256
"""Characters of a name."""
STRING = 4096
"""Characters of a text that only log_msg would print."""
HEX_DIGITS = 1024
"""Digits of a number written as text: 4096 bits, the widest intermediate result."""
OBJECTS = 4096
"""Elements of one list: headers, fields, actions, tables, primitives, const entries."""
ID = 0xFFFF
"""Identifiers, which index arrays: actions, field lists, digests."""
WIDTH = 2048
"""Bits of a field or argument."""
HEADER_OCTETS = 4096
"""A header with its longest varbit."""
PHV_OCTETS = 1 << 16
"""All headers and metadata: every packet in a queue has them."""
STACK = 255
"""Headers or header unions of a stack; the next index of one has 8 bits."""
UNION = 64
"""Headers of a header union."""
REGISTER_WIDTH = 128
"""Bits of a register cell."""
CELLS = 1 << 20
"""Cells of a counter, meter or register array."""
ALL_CELLS = 1 << 22
"""Cells of all arrays together; one takes 16 to 64 octets."""
TABLE_ENTRIES = 1 << 24
"""Declared size of a table or an action profile; memory is taken by entries present."""
ALL_CONST_ENTRIES = 1 << 15
"""Const entries of all tables together."""
PRIORITY = (1 << 31) - 2
"""Priority of a const entry."""
C_CHARACTERS = 4 << 20
"""Characters written on the way to the C of a program, intermediate expressions included."""
PROGRAMS_KEPT = 10
"""Programs that a process remembers when it is sent them again: PE and P of every profile."""

"""BMv2 JSON, checked completely before anything is generated from it.

A pipeline comes from whoever speaks P4Runtime, and native code is made of it: nothing in it is
believed. `text` bounds its size and depth, `schema` the type and range of every value read later,
`references` what is named or numbered elsewhere in it.
"""

from fcn.softswitch.engine.bmv2json.program import prepare, read_program

__all__ = ["prepare", "read_program"]

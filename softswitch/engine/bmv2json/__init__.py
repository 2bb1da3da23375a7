"""BMv2 JSON, read and checked completely before anything is generated from it.

A pipeline comes from whoever speaks P4Runtime, and native code is made of it: nothing in it is
believed. `text` bounds its size and depth; `headers` reads what is declared of headers, and
`expressions`, `parser`, `tables` and `arrays` read the rest, in which each name of a header has to
be one of those; `program` reads all of it and checks what its parts say of each other.
"""

"""Model to C: one translation unit per program, in terms of the runtime in ../native."""

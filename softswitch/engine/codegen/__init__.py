"""Generates C from the model: one translation unit per program, using the runtime in ../native."""

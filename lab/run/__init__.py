"""A scenario as a simulation: built, run, measured."""

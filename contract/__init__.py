"""Interface of the compiled programs, properties of targets. Imports no other fcn package."""

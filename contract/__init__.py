"""What the compiled programs and the targets are. Nothing here imports another package of fcn.

constants  numbers and enums P4 and Python share, read from constants.json
names      tables by IP version, digests, counters and their enums, what a target names differently
ports      CPU, recirculation and front-panel ports
depth      queue depth: unit, range, conversion; the rules of thresholds
clock      the unit of time parameters
targets    all of this per target
pipeline   a compiled program: its files, its schema and its target
counters   cells of counters, added up
"""

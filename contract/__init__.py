"""Interface of the compiled programs and properties of the targets. Imports no other fcn package.

constants  numbers and enums that P4 and Python share, read from constants.json
names      tables by IP version, digests, counters and their enums, value sets
ports      CPU, recirculation and front-panel ports
depth      queue depth: unit, range, conversion; the rules of thresholds
time_unit  the unit of time parameters
link_clock the clock of switches that make no packets of their own (FAN-4)
targets    these properties per target
pipeline   a compiled program: its files, its schema and its target
counters   cells of counters, added up
garbage_collection when Python looks for unused objects
transport  which addresses of switches other machines reach; files of TLS
"""

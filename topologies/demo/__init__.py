"""The demo: the same congestion with end-to-end ECN alone and with FCN, measured and compared.

`scenario` defines the traffic, `traffic` runs it once, `measure` and `checks` evaluate the record
of a run (pure functions), `plots` and `report` present the results. Run it with `python -m
fcn.topologies.demo`.
"""

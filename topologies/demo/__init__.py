"""The demo: the same congestion met with end-to-end ECN alone and with FCN, measured and compared.

`scenario` says what happens, `traffic` makes it happen once, `measure` and `checks` judge what was
recorded (pure functions), `plots` and `report` show it. `python -m
fcn.topologies.demo` does it all.
"""

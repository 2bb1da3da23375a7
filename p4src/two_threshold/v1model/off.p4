// Of a program without two thresholds: the steps of pe.p4 and p.p4, empty.
EMPTY_STEP(LightMode)
EMPTY_STEP(LightNotified)
EMPTY_STEP(LightFlow)
EMPTY_STEP(CurveMarking)

"""What tests of rate limits send and allow (FCN-11, FCN-15)."""

import finsy as fy

LONG_US = 60_000_000
"""An interval in microseconds that does not end within a test."""
FLOOD = 320
BUDGET = fy.P4MeterConfig(cir=1, cburst=5, pir=1, pburst=5)
"""Rate of one notification per second, burst of five."""

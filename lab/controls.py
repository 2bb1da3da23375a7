"""Congestion control of hosts: names, defaults and bounds of its parameters, as scenarios write
them. Rates are in bit/s, times in nanoseconds."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from fcn.topologies.units import Rate, Time, parse_size

MAX_WINDOW = (1 << 23) - 1

ControlName = Literal["dcqcn", "timely", "swift"]
CONTROLS: tuple[ControlName, ...] = ("dcqcn", "timely", "swift")
"""Congestion control of a host, by name; in the order of `enum delay_kind`."""

Share = Annotated[float, Field(gt=0, le=1)]
Window = Annotated[float, Field(ge=1e-4, le=MAX_WINDOW)]
"""Packets."""
Positive = Annotated[Time, Field(ge=1)]
Steps = Annotated[int, Field(ge=1, le=1000)]


class Model(BaseModel):
    """Unknown keys are errors, types are not coerced, instances are immutable. Python code gives
    numbers by `model_construct`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class Dcqcn(Model):
    """DCQCN (SIGCOMM 2015, section 3).

    line_rate: that of each connection, with which it begins; where left out that of the host's
    link. byte_counter: octets; 0 is none. fast_recovery_steps: the step of timer or counter from
    which on the target rises. cut_interval: CNPs so soon after a cut do not cut. cut_period: a CNP
    cuts at the end of the period it is in, counted from the first one; 0: at once. alpha_by_timer:
    alpha rises or falls once in alpha_period, as a CNP came in it or not; otherwise it rises at
    each cut and falls alpha_period after one. clamp_target: the target is the rate before each cut,
    also when the timer has not raised it since the cut before. Defaults: the paper's rules, with
    the timer of NICs.
    """

    line_rate: Rate | None = None
    min_rate: Rate = 10**8
    g: Annotated[float, Field(gt=0, lt=1)] = 1 / 256
    initial_alpha: Share = 1.0
    additive_increase: Rate = 40 * 10**6
    hyper_increase: Rate = 400 * 10**6
    alpha_period: Positive = 55_000
    increase_period: Positive = 300_000
    byte_counter: Annotated[int, BeforeValidator(parse_size), Field(ge=0, lt=1 << 63)] = 10_000_000
    fast_recovery_steps: Steps = 5
    cut_interval: Time = 0
    cut_period: Time = 0
    alpha_by_timer: bool = False
    clamp_target: bool = True

    @property
    def parameters(self) -> dict[str, float]:
        """Each by its name; a line rate of 0 is that of the host's link."""
        given = {name: getattr(self, name) for name in Dcqcn.model_fields}
        return given | {"line_rate": self.line_rate or 0}


class Timely(Model):
    """TIMELY (SIGCOMM 2015, algorithm 1).

    ewma: alpha, the weight of a new difference of round trips. low, high: below the first the rate
    rises, above the second it falls, by `beta` at most. least_rtt: what a gradient is normalised
    by. hyper_after: gradients in a row not above 0, from which on the rate rises by hyper_factor
    increases. A round trip counts each time that an ACK comes. Defaults: the paper's numbers, of a
    data centre at 10 Gb/s, and the least round trip of HPCC's simulator.
    """

    ewma: Share = 0.875
    beta: Share = 0.8
    additive_increase: Rate = 10**7
    low: Time = 50_000
    high: Positive = 500_000
    least_rtt: Positive = 20_000
    hyper_after: Steps = 5
    hyper_factor: Steps = 5

    @property
    def problem(self) -> str:
        """What is wrong with these values together; empty where nothing is."""
        if self.low > self.high:
            return "low is above high: between them the gradient decides"
        return ""


class Swift(Model):
    """Swift (SIGCOMM 2020, algorithm 1 and section 3.5): windows in packets.

    base_target: the delay aimed at, with what the paper adds for each hop. scaling, scaling_least,
    scaling_most: fs_range, fs_min_cwnd and fs_max_cwnd, what the target has more for small windows.
    beta, max_decrease: how much a window falls, once in a round trip. It begins with most_window.
    Delays at hosts take no time here, so there is one window for both. Defaults: those of htsim,
    for the paper says few.
    """

    window_increase: Window = 1.0
    beta: Share = 0.8
    max_decrease: Share = 0.5
    least_window: Window = 0.01
    most_window: Window = 1000.0
    base_target: Positive = 25_000
    scaling: Time = 100_000
    scaling_least: Window = 0.1
    scaling_most: Window = 100.0

    @property
    def problem(self) -> str:
        """What is wrong with these values together; empty where nothing is."""
        if self.least_window > self.most_window:
            return "least_window is above most_window"
        if self.scaling_least >= self.scaling_most:
            return "scaling_least is not below scaling_most"
        return ""

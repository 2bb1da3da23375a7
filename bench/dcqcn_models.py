"""Where N equal DCQCN flows settle that share a link whose queue marks by RED, in closed form.

`fluid` is the model of DCQCN's authors: Zhu et al., "Congestion Control for Large-Scale RDMA
Deployments", SIGCOMM 2015, section 5, equations 5 to 9; its fixed point is also in Zhu, Ghobadi,
Misra, Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016,
section 3. It takes two things apart that are one in a host: cuts come in windows of the time
between CNPs, but timer and byte counter start anew with each marked packet.

`renewal` is the same algorithm without that. A receiver sends a CNP for the first marked packet
after the time between CNPs, so the time from cut to cut is that and an exponential one; everything
starts anew with a cut. The byte counter, which has no time to count, is left out.

Both have the mean of the probability of a mark at the mean of the queue, which is right where the
queue stays between Kmin and Kmax.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, expm1
from math import pow as power


@dataclass(frozen=True, slots=True)
class Settings:
    """Rates in packets per second, times in seconds, byte_counter in packets, RED in octets."""

    capacity: float
    additive_increase: float
    byte_counter: float
    increase_period: float
    alpha_period: float
    cnp_interval: float
    fast_recovery_steps: int
    kmin: float
    kmax: float
    pmax: float


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """Of so many flows: the probability of a mark, the queue, and alpha."""

    flows: int
    probability: float
    queue_octets: float
    alpha: float


def fluid(settings: Settings, flows: int) -> FixedPoint:
    """Where all derivatives of the fluid model are 0, each flow having its share."""
    s, rate = settings, settings.capacity / flows

    def alpha(p: float) -> float:
        """dalpha/dt = 0 (equation 5)."""
        return 1 - power(1 - p, s.alpha_period * rate)

    def excess(p: float) -> float:
        """dR_T/dt = 0 (equation 6) with R_T - R_C from dR_C/dt = 0 (equation 7): what cuts take
        from the target beyond what increases give it."""
        counter, timer = s.byte_counter, s.increase_period * rate
        cuts = (1 - power(1 - p, s.cnp_interval * rate)) / s.cnp_interval
        steps = [rate * p / (power(1 - p, -n) - 1) for n in (counter, timer)]
        recovery = [power(1 - p, s.fast_recovery_steps * n) for n in (counter, timer)]
        raised = sum(each * past for each, past in zip(steps, recovery, strict=True))
        return rate * alpha(p) * cuts / sum(steps) * cuts - s.additive_increase * raised

    return _point(settings, flows, excess, alpha)


def renewal(settings: Settings, flows: int) -> FixedPoint:
    """Where a cycle from cut to cut changes neither rate nor alpha on average."""
    s, share = settings, settings.capacity / flows
    period, interval = s.increase_period, s.cnp_interval

    def alpha(p: float) -> float:
        """It rises once in a cycle, and falls as often as its timer expires."""
        marks = p * share
        return 1 / (1 + exp(interval * marks) / expm1(s.alpha_period * marks))

    def excess(p: float) -> float:
        """What the cut takes from the rate beyond what has been added to it when the next one
        comes, after any number of steps of the timer."""
        marks = p * share

        def longer(time: float) -> float:
            """The probability that a cycle is."""
            return exp(-max(0.0, time - interval) * marks)

        def within(time: float) -> float:
            """The mean of a cycle's length, of which no more than `time` counts."""
            beyond = max(0.0, time - interval)
            return min(time, interval) - expm1(-beyond * marks) / marks

        length = missing = added = given = taken = 0.0
        for step in range(int(40 / (marks * period)) + 2):
            ended = longer(step * period) - longer((step + 1) * period)
            spent = within((step + 1) * period) - within(step * period)
            raises = max(0, step - s.fast_recovery_steps + 1)
            # R_C follows R_T by half of what is left in each step.
            above = s.additive_increase * (raises - 1 + 0.5**raises)
            below = alpha(p) / 2 * 0.5**step
            length += spent
            missing += spent * below
            added += spent * above
            given += ended * above
            taken += ended * below
        before_cut = (share * length - added) / (length - missing)
        return before_cut * taken - given

    return _point(settings, flows, excess, alpha)


def _point(
    settings: Settings,
    flows: int,
    excess: Callable[[float], float],
    alpha: Callable[[float], float],
) -> FixedPoint:
    """Where the excess is 0, which grows with the probability."""
    low, high = 1e-6, 0.05
    while low < (probability := (low + high) / 2) < high:
        if excess(probability) < 0:
            low = probability
        else:
            high = probability
    s = settings
    queue = s.kmin + probability / s.pmax * (s.kmax - s.kmin)
    return FixedPoint(flows, probability, queue, alpha(probability))

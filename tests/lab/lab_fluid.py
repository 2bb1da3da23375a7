"""The fluid model of DCQCN, for a queue that marks all or nothing.

Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 5,
equations 5 to 9. There the probability of a mark follows RED; the P program marks every packet from
a depth on, so here it is p = 1 above that depth and p = 0 up to it, evaluated one feedback delay
ago. The limits of the paper's terms are then

    p = 1:  dRc/dt = -Rc alpha / (2 tau)         dRt/dt = -(Rt - Rc) / tau
            dalpha/dt = g (1 - alpha) / tau'
    p = 0:  dRc/dt = (Rt - Rc) / 2 (Rc / B + 1 / T)
            dRt/dt = R_AI (Rc / B + 1 / T)       dalpha/dt = -g alpha / tau'

and dq/dt = sum of Rc - C, with q >= 0 and rates up to that of the line. Rates are in packets per
second, times in seconds. Like the paper's, the model has no stage of fast recovery while p = 0, and
no hyper increase.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

STEP = 1e-6
"""Of Euler's method; half of it changes no mean by more than 0.5 %."""


@dataclass(frozen=True, slots=True)
class Fluid:
    """Parameters; byte_counter and threshold in packets."""

    capacity: float
    line: float
    threshold: float
    feedback: float
    increase_period: float
    byte_counter: float
    additive_increase: float
    g: float
    cnp_interval: float
    alpha_period: float


@dataclass(slots=True)
class Flow:
    """State of a reaction point: R_C, R_T and alpha; it sends from `start` on."""

    start: float
    current: float
    target: float
    alpha: float = 1.0


@dataclass(frozen=True, slots=True)
class Sample:
    """The state at a time: packets in the queue; rates and alphas by flow."""

    time: float
    queue: float
    rates: tuple[float, ...]
    alphas: tuple[float, ...]


def integrate(
    model: Fluid, starts: Sequence[float], length: float, every: float, step: float = STEP
) -> Iterator[Sample]:
    """Flows that start at line rate and alpha 1; a sample at each multiple of `every`."""
    flows = [Flow(start, model.line, model.line) for start in starts]
    lag = max(1, round(model.feedback / step))
    marked = [False] * lag
    queue = 0.0
    stride = round(every / step)
    for number in range(round(length / step)):
        if number and number % stride == 0:
            yield Sample(
                number * step,
                queue,
                tuple(flow.current for flow in flows),
                tuple(flow.alpha for flow in flows),
            )
        was_marked = marked[number % lag]
        marked[number % lag] = queue > model.threshold
        total = 0.0
        for flow in flows:
            if flow.start <= number * step:
                _advance(flow, model, was_marked, step)
                total += flow.current
        queue = max(0.0, queue + (total - model.capacity) * step)


def _advance(flow: Flow, model: Fluid, marked: bool, step: float) -> None:
    if marked:
        current = -flow.current * flow.alpha / (2 * model.cnp_interval)
        target = -(flow.target - flow.current) / model.cnp_interval
        alpha = model.g * (1 - flow.alpha) / model.alpha_period
    else:
        events = flow.current / model.byte_counter + 1 / model.increase_period
        current = (flow.target - flow.current) / 2 * events
        target = model.additive_increase * events
        alpha = -model.g * flow.alpha / model.alpha_period
    flow.current = min(model.line, flow.current + current * step)
    flow.target = min(model.line, flow.target + target * step)
    flow.alpha += alpha * step

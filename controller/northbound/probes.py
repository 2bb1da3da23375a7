"""What a supervisor asks over HTTP: does the controller live, and are all switches as intended?"""

import json
from collections.abc import Callable, Iterable
from http import HTTPStatus
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from fcn.controller.northbound.snapshot import Snapshot

STALE = 30.0
"""Seconds: a snapshot is taken every second, so that the event loop stands still when the last one
is older."""

Answer = tuple[HTTPStatus, dict[str, object]]


def health(age: float) -> Answer:
    """`/healthz`; age of the last snapshot in seconds."""
    if age > STALE:
        return HTTPStatus.SERVICE_UNAVAILABLE, {"healthy": False, "reason": _still(age)}
    return HTTPStatus.OK, {"healthy": True}


def readiness(snapshot: Snapshot, age: float) -> Answer:
    """`/readyz`: 503 with the state of each switch that is not as intended, or where nobody knows;
    age of the snapshot in seconds."""
    if age > STALE:
        return HTTPStatus.SERVICE_UNAVAILABLE, {"ready": False, "reason": _still(age)}
    code = HTTPStatus.SERVICE_UNAVAILABLE if snapshot.waiting else HTTPStatus.OK
    return code, {"ready": not snapshot.waiting, "waiting_for": snapshot.waiting}


def _still(age: float) -> str:
    return f"the event loop has stood still for {age:.0f} s"


def with_probes(
    metrics: WSGIApplication, snapshot: Callable[[], tuple[Snapshot, float]]
) -> WSGIApplication:
    """`/healthz` and `/readyz` (and its older name `/ready`) beside `/metrics`; snapshot: the last
    one, and its age in seconds."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        shown, age = snapshot()
        match environ["PATH_INFO"]:
            case "/metrics":
                return metrics(environ, start_response)
            case "/healthz":
                code, body = health(age)
            case "/readyz" | "/ready":
                code, body = readiness(shown, age)
            case _:
                paths = ["/metrics", "/healthz", "/readyz"]
                code, body = HTTPStatus.NOT_FOUND, {"paths": paths}
        start_response(f"{code} {code.phrase}", [("Content-Type", "application/json")])
        return [json.dumps(body).encode() + b"\n"]

    return answer

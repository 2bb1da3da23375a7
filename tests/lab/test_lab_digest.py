"""The digest of a run, against one computed in Python from copies of all frames."""

import pytest
from lab_networks import GIGABIT, Rates, wan

from fcn.lab.core import Simulation
from fcn.lab.frames import TappedFrame

WORD = (1 << 64) - 1


def fold(a: int, b: int) -> int:
    product = (a & WORD) * (b & WORD)
    return product & WORD ^ product >> 64


def mix(digest: int, word: int) -> int:
    turned = (digest << 1 | digest >> 63) & WORD
    return (fold(digest ^ word, 0xD6E8FEB86659FD93) + turned) & WORD


def pair(octets: bytes, place: int) -> int:
    """Of 16 octets, the `place`th from the end of a frame; as lab/native/lab_record.c says."""
    a, b = (int.from_bytes(half, "little") for half in (octets[:8], octets[8:]))
    a ^= 0xA0761D6478BD642F + place * 0x9E3779B97F4A7C15 & WORD
    b ^= 0xE7037ED1A0B428DB + place * 0xD1B54A32D192ED03 & WORD
    return fold(a, b)


def add(digest: int, direction: int, frame: TappedFrame) -> int:
    """The digest after one more frame."""
    octets = bytes(-frame.length % 16) + frame.data
    places = len(octets) // 16
    total = sum(pair(octets[16 * n : 16 * n + 16], places - 1 - n) for n in range(places))
    digest = mix(mix(digest, frame.time_ns), direction << 32 | frame.length)
    return mix(digest, total & WORD)


@pytest.mark.parametrize("tapped", [False, True], ids=["digest", "beside taps"])
def test_it_is_of_every_octet_of_every_frame(tapped: bool) -> None:
    """Also of those left out: behind tunnel headers put on and taken off, in frames that were used
    before, marked, dropped by queues, as long as any, or too short for a payload."""
    frames: list[TappedFrame] = []
    digests = []
    for copied in (True, tapped):
        with Simulation(5) as simulation:
            network = wan(simulation, Rates(core2=(8 * GIGABIT, 1000)), buffer=20)
            for host, back in ((network.left, False), (network.right, True)):
                sizes = (64, 200, 256, 300, 512, 1024, 4096)
                series = [network.frame(size, back=back) for size in sizes]
                series.append(series[-1][:-99] + bytes(range(99)))
                host.send_series(series, per_second=3_000_000, count=60, poisson=True)
            if copied:
                for link in simulation.links:
                    link.tap(0)
                    link.tap(1)
            simulation.keep_digest()
            simulation.run_until(100_000_000)
            frames += simulation.tapped() if copied and not frames else []
            digests.append(simulation.digest)
    expected = 5  # It begins with the seed.
    for frame in frames:
        expected = add(expected, 2 * frame.link + frame.direction, frame)
    assert len(frames) > 300
    assert digests == [expected, expected]

"""QEMU: which accelerator works here, and one running guest."""

import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Literal

from fcn.hosts.guest.channel import Channel, GuestError
from fcn.hosts.guest.debian import install
from fcn.hosts.guest.image import Image, cache_directory
from fcn.hosts.processes import Process
from fcn.hosts.scratch import scratch_folder

Accelerator = Literal["kvm", "tcg"]

QEMU_PACKAGE = "qemu-system-x86"
QEMU = "qemu-system-x86_64"
MEMORY_MB = 384
# KVM needs about two seconds for the probe, TCG four. Where KVM is present and does not work, it
# hangs; the result is cached until the next reboot.
KVM_PROBE_S = 10.0
BOOT_TIMEOUT_S = 90.0
SHARE_TAG = "host"
KERNEL_OPTIONS = "console=ttyS0 quiet panic=-1 mitigations=off nokaslr"


@dataclass(frozen=True, slots=True)
class Nic:
    """A guest's network card: the TAP device it is on, which exists already, and its address."""

    tap: str
    mac: str


def _machine(accelerator: Accelerator, image: Image, options: str = "") -> list[str]:
    return [
        QEMU,
        *("-accel", accelerator, "-cpu", "max", "-smp", "1", "-m", str(MEMORY_MB)),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-kernel", str(image.kernel), "-initrd", str(image.initramfs)),
        *("-append", f"{KERNEL_OPTIONS} {options}".strip()),
    ]


def _nic(number: int, nic: Nic) -> tuple[str, ...]:
    tap = f"tap,id=net{number},ifname={nic.tap},script=no,downscript=no,vnet_hdr=off"
    card = f"virtio-net-pci,netdev=net{number},mac={nic.mac},romfile="
    return ("-netdev", tap, "-device", card)


def _share(directory: Path) -> tuple[str, ...]:
    files = f"local,id=share,path={directory},security_model=none,readonly=on,multidevs=remap"
    return ("-fsdev", files, "-device", f"virtio-9p-pci,fsdev=share,mount_tag={SHARE_TAG}")


@cache
def accelerator(image: Image) -> Accelerator:
    """`kvm` if a guest boots with it within KVM_PROBE_S, else `tcg`; installs QEMU if missing."""
    install([QEMU_PACKAGE])
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    verdict = cache_directory() / f"accelerator-{boot}"
    if not verdict.exists():
        # Written elsewhere and moved, since another run may read it at the same time.
        with tempfile.TemporaryDirectory(dir=cache_directory()) as scratch:
            written = Path(scratch) / "accelerator"
            written.write_text("kvm" if _kvm_boots(image) else "tcg")
            written.replace(verdict)
    return "kvm" if verdict.read_text() == "kvm" else "tcg"


def _kvm_boots(image: Image) -> bool:
    if not Path("/dev/kvm").exists():
        return False
    try:
        probe = subprocess.run(
            _machine("kvm", image, "fcn.probe"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=KVM_PROBE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return probe.returncode == 0


class Guest:
    """Context manager: one guest; `nics` are its eth0, eth1, ...

    `prefix` (such as mnexec and its options) brings QEMU into the TAPs' network namespace;
    `directory` receives the console log; `share` is a directory the guest may read over 9p, as
    SHARE_TAG.
    """

    def __init__(
        self,
        name: str,
        image: Image,
        nics: Sequence[Nic],
        directory: Path,
        prefix: Sequence[str] = (),
        share: Path | None = None,
    ) -> None:
        self.name = name
        # The path of a Unix socket has at most 107 octets; `directory` may be longer.
        self._scratch = ExitStack()
        folder = self._scratch.enter_context(scratch_folder("fcn-guest-"))
        self._socket = folder / "channel"
        self.console = directory / f"{name}.console"
        command = [
            *_machine(accelerator(image), image),
            *("-serial", f"file:{self.console}"),
            *chain.from_iterable(_nic(number, nic) for number, nic in enumerate(nics)),
            *(_share(share) if share else ()),
            *("-device", "virtio-serial-pci"),
            *("-chardev", f"socket,id=channel,path={self._socket},server=on,wait=off"),
            *("-device", "virtserialport,chardev=channel"),
        ]
        self.process = Process(name, command, directory / f"{name}.log", prefix)
        self._channel: Channel | None = None

    @property
    def channel(self) -> Channel:
        """The command channel; the first use waits for the guest to be up."""
        if self._channel is None:
            try:
                self._channel = Channel(self.name, self._socket, BOOT_TIMEOUT_S)
            except GuestError as error:
                self.process.check()
                raise GuestError(f"{error}; console: {self._console_end()}") from error
        return self._channel

    def stop(self) -> None:
        """Kill it, as a power failure would."""
        if self._channel is not None:
            self._channel.close()
        self.process.stop()
        self._scratch.close()

    def __enter__(self) -> "Guest":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _console_end(self) -> str:
        text = self.console.read_text(errors="replace") if self.console.exists() else ""
        return "\n".join(text.splitlines()[-5:]) or "nothing"

"""The guest's kernel and initramfs, built on first use and kept in the user's cache.

Uncompressed on purpose: without KVM, decompression in the guest would take longer than its boot.
"""

import hashlib
import lzma
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fcn.hosts import build
from fcn.hosts.guest import extra_module
from fcn.hosts.guest.debian import (
    PackageError,
    download,
    header_packages,
    install,
    kernel_package,
    unpack,
)
from fcn.hosts.guest.kernel_modules import load_order

PACKAGES = (
    "busybox-static", "ibverbs-providers", "iproute2", "libbpf1", "libbsd0", "libc6", "libcap2",
    "libelf1", "libgcc-s1", "libibumad3", "libibverbs1", "libmd0", "libmnl0", "libnl-3-200",
    "libnl-route-3-200", "libpci3", "librdmacm1", "libudev1", "perftest", "rdmacm-utils", "zlib1g",
)  # fmt: skip
PROGRAMS = (
    "bin/ip",
    "usr/bin/rdma",
    "usr/bin/rping",
    "usr/bin/ucmatose",
    "usr/bin/ib_write_bw",
    "usr/bin/ib_send_bw",
    "usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so",
    # glibc loads it when a thread is cancelled.
    "lib/x86_64-linux-gnu/libgcc_s.so.1",
)
# Not dependencies of other modules: rdma_rxe requests CRC-32 from the crypto layer by name,
# rdma_ucm provides /dev/infiniband/rdma_cm, 9p the host's files (Guest, `share`).
MODULES = (
    "virtio_pci", "virtio_console", "virtio_net", "crc32_generic", "rdma_rxe", "rdma_ucm",
    "9pnet_virtio", "9p", "vrf",
)  # fmt: skip
INIT = Path(__file__).with_name("init.sh")
EXTRA_MODULE = f"modules/extra/{extra_module.SOURCE.stem}.ko"
LOADER = "lib64/ld-linux-x86-64.so.2"
LIBRARIES = ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")
XZ_MAGIC = b"\xfd7zXZ\0"


class ImageError(RuntimeError):
    """The guest image cannot be built; the message says which part."""


@dataclass(frozen=True, slots=True)
class Image:
    """What QEMU boots: an ELF kernel with a PVH entry and a cpio archive."""

    kernel: Path
    initramfs: Path


def cache_directory() -> Path:
    """Where images are kept."""
    return build.cache_directory() / "guest"


def guest_image() -> Image:
    """The image, built if these packages and this init have not been built before.

    A first build downloads about 90 MB of Debian packages. Raises PackageError, ImageError,
    ModuleError, BuildError.
    """
    sources = (INIT, Path(__file__), extra_module.SOURCE, Path(extra_module.__file__))
    recipe = _digest(*(source.read_text() for source in sources))
    directory = cache_directory() / f"image-{recipe}"
    image = Image(directory / "vmlinux", directory / "initramfs.cpio")
    if not directory.exists():
        directory.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory.parent) as scratch:
            built = Path(scratch) / "image"
            built.mkdir()
            _build(Path(scratch), built)
            # Of two concurrent builds the second to finish keeps the first's directory.
            if not directory.exists():
                built.rename(directory)
    return image


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _build(scratch: Path, into: Path) -> None:
    root = scratch / "packages"
    root.mkdir()
    kernel = kernel_package()
    packages = (kernel, *header_packages(kernel), *PACKAGES)
    archives = cache_directory() / f"packages-{_digest(*packages)}"
    if not archives.exists():
        download(packages, archives)
    unpack(archives, root)
    (into / "vmlinux").write_bytes(_uncompressed_kernel(next((root / "boot").glob("vmlinuz-*"))))
    tree = scratch / "tree"
    _fill(root, tree)
    install(extra_module.TOOLS)
    release = kernel.removeprefix("linux-image-")
    _copy(extra_module.build(root, release, scratch), tree / EXTRA_MODULE)
    busybox = root / "bin/busybox"
    names = "".join(f"{path.relative_to(tree)}\n" for path in sorted(tree.rglob("*")))
    with (into / "initramfs.cpio").open("wb") as archive:
        done = subprocess.run(
            [str(busybox), "cpio", "-o", "-H", "newc"],
            cwd=tree,
            input=names.encode(),
            stdout=archive,
            stderr=subprocess.PIPE,
            check=False,
        )
    if done.returncode != 0:
        raise ImageError(f"initramfs: {done.stderr.decode().strip()}")


def _uncompressed_kernel(vmlinuz: Path) -> bytes:
    """The ELF image inside a bzImage (Debian compresses it with xz)."""
    packed = vmlinuz.read_bytes()
    for found in re.finditer(re.escape(XZ_MAGIC), packed):
        try:
            kernel = lzma.LZMADecompressor().decompress(packed[found.start() :])
        except lzma.LZMAError:
            continue
        if kernel.startswith(b"\x7fELF"):
            return kernel
    raise ImageError(f"{vmlinuz.name}: no xz-compressed ELF kernel in it")


def _fill(root: Path, tree: Path) -> None:
    for directory in ("bin", "sbin", "usr/bin", "usr/sbin", "proc", "sys", "dev", "run", "tmp"):
        (tree / directory).mkdir(parents=True)
    for name in ("bin/busybox", *PROGRAMS, *_libraries(root)):
        _copy(root / name, tree / name)
    (tree / "bin/sh").symlink_to("busybox")
    # libibverbs finds its providers by these files.
    for path in (root / "etc/libibverbs.d").glob("rxe.driver"):
        _copy(path, tree / path.relative_to(root))
    _copy(INIT, tree / "init")
    (tree / "init").chmod(0o755)
    releases = list((root / "lib/modules").iterdir())
    (tree / "modules").mkdir()
    order = load_order(releases[0], MODULES)
    for module in order:
        _copy(module, tree / "modules" / module.name)
    listing = "".join(f"/modules/{module.name}\n" for module in order)
    (tree / "modules/order").write_text(listing)


def _libraries(root: Path) -> list[str]:
    """Paths below `root` of every shared library the programs need, as their loader finds them."""
    search = ":".join(str(root / directory) for directory in LIBRARIES)
    found = {LOADER}
    for program in PROGRAMS:
        done = subprocess.run(
            [str(root / LOADER), "--library-path", search, "--list", str(root / program)],
            capture_output=True,
            text=True,
            check=False,
        )
        missing = re.findall(r"(\S+) => not found", done.stdout)
        if done.returncode != 0 or missing:
            raise ImageError(f"{program}: no {', '.join(missing) or done.stderr.strip()}")
        for path in re.findall(r"=> (\S+) \(0x", done.stdout):
            if not Path(path).is_relative_to(root):
                raise PackageError(f"{program} needs {path}, which none of the packages has")
            found.add(str(Path(path).relative_to(root)))
    return sorted(found)


def _copy(source: Path, target: Path) -> None:
    if not source.exists():
        raise ImageError(f"{source.name} is in none of the packages")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)

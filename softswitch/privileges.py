"""Giving up root: the switch keeps one capability, of the thread that opens interfaces.

A pipeline is native code made from what a P4Runtime client sent; it runs as a user without rights.
CAP_NET_RAW stays: every pipeline opens the interfaces anew (AF_PACKET and AF_XDP sockets).
Programs the switch starts (the C compiler) do not inherit it.
"""

import contextlib
import ctypes
import os
import pwd
import resource
import struct
from pathlib import Path

DEFAULT_USER = "nobody"
SYSTEM_CACHE = Path("/var/cache/fcn-softswitch")
"""Parent of the folders compiled programs are kept in after root was given up, one a user."""
_CAP_NET_RAW = 13
_CAP_VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3 of linux/capability.h
_PR_SET_PDEATHSIG, _PR_GET_PDEATHSIG = 1, 2
_PR_SET_KEEPCAPS = 8
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_LAST_CAPABILITY = Path("/proc/sys/kernel/cap_last_cap")


class PrivilegeError(Exception):
    """Root cannot be given up; the message says what to do."""


def drop_privileges(user: str | None) -> None:
    """Become `user` for good, keeping CAP_NET_RAW; None is DEFAULT_USER when root, else nobody new.

    Call it before other threads are started that need the capability: it is kept by this one and
    those it starts. "root" stays as it is. Raises PrivilegeError.
    """
    if os.geteuid() != 0:
        if user is not None and _account(user).pw_uid != os.geteuid():
            raise PrivilegeError(f"only root can become {user}; leave --user out")
        return
    account = _account(user or DEFAULT_USER)
    if account.pw_uid == 0:
        return
    _own_cache(account)
    death = ctypes.c_int()
    _call("prctl", _PR_GET_PDEATHSIG, ctypes.byref(death))
    # An AF_XDP socket's memory counts against this limit once root is gone.
    # Where it cannot be raised, frames are sent through AF_PACKET.
    with contextlib.suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY,) * 2)
    last = int(_LAST_CAPABILITY.read_text())
    for capability in range(last + 1):
        _call("prctl", _PR_CAPBSET_DROP, ctypes.c_ulong(capability))
    _call("prctl", _PR_SET_KEEPCAPS, ctypes.c_ulong(1))
    try:
        os.setgroups([])
        os.setresgid(*[account.pw_gid] * 3)
        os.setresuid(*[account.pw_uid] * 3)
    except OSError as error:
        raise PrivilegeError(
            f"cannot become {account.pw_name} ({error.strerror}); is the user known in this "
            "namespace? --user NAME takes another one, --user root stays root"
        ) from error
    _keep(1 << _CAP_NET_RAW)
    _call("prctl", _PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), *[ctypes.c_ulong(0)] * 3)
    # The kernel forgets it with the change of user.
    _call("prctl", _PR_SET_PDEATHSIG, ctypes.c_ulong(death.value))


def _account(user: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(user)
    except KeyError as error:
        raise PrivilegeError(f"there is no user {user} here; --user NAME names another") from error


def _own_cache(account: pwd.struct_passwd) -> None:
    """Give the user a folder for compiled programs, unless XDG_CACHE_HOME names one; empty is as if
    it were not set (XDG Base Directory Specification)."""
    if os.environ.get("XDG_CACHE_HOME"):
        return
    base = SYSTEM_CACHE / account.pw_name
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(base, os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            os.fchown(descriptor, account.pw_uid, account.pw_gid)
            os.fchmod(descriptor, 0o700)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise PrivilegeError(
            f"cannot make {base} ({error.strerror}); name another folder in XDG_CACHE_HOME"
        ) from error
    os.environ["XDG_CACHE_HOME"] = str(base)


def _keep(capabilities: int) -> None:
    # linux/capability.h: a version and a thread; what is effective, permitted and inheritable, of
    # the first 32 capabilities and the others.
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAP_VERSION, 0))
    _call("capset", header, struct.pack("=6I", capabilities, capabilities, 0, 0, 0, 0))


def _call(name: str, *arguments: object) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        raise PrivilegeError(
            f"cannot give up root: {name}: {os.strerror(ctypes.get_errno())}; "
            "--user root stays root"
        )

"""Records the calls an engine makes to its native library as commands for harness.c.

a table prefix priority key mask high REF    m table handle REF    x table handle
d table 1 REF | d table 0                    M slot action n args  N slot
R slot n members                             T slot
S id n ports instances class truncate        G id n ports instances
P port n octets                              A nanoseconds         Q port depth pps bps delay
! (not recorded) print "ready"
REF is target id timeout n args; numbers are decimal, octets hexadecimal.
"""

from collections.abc import Callable

from fcn.softswitch.engine.build import CData, ffi


def _octets(pointer: CData, n: int) -> str:
    return bytes(ffi().buffer(ffi().cast("uint8_t *", pointer), n)).hex()


def _ref(a: CData) -> str:
    args = _octets(a.args, a.n_args) if a.n_args else ""
    return f"{a.target} {a.id} {a.timeout_ns} {a.n_args} {args}"


def _list(numbers: list[int]) -> str:
    return " ".join(map(str, numbers))


class Recorder:
    """Stands in for the native library; `commands` is the record."""

    def __init__(self, library: CData) -> None:
        self._library = library
        self.commands: list[str] = []

    def __getattr__(self, name: str) -> CData:
        real = getattr(self._library, name)
        record: Callable[..., str] | None = getattr(self, f"_on_{name}", None)
        if record is None:
            return real

        def call(engine: CData, *args: CData) -> CData:
            self.commands.append(record(*args))
            return real(engine, *args)

        return call

    @staticmethod
    def _on_sw_ctl_table_add(
        table: int, key: CData, mask: CData, high: CData, prefix: int, priority: int, a: CData
    ) -> str:
        # One after the other; or all are the same, as for a value of a set.
        words = ffi().addressof(mask, 0) - ffi().addressof(key, 0) or len(key)
        parts = " ".join(_octets(x, 8 * words) for x in (key, mask, high))
        return f"a {table} {prefix} {priority & 0xFFFFFFFF} {parts} {_ref(a)}"

    @staticmethod
    def _on_sw_ctl_table_modify(table: int, handle: int, a: CData) -> str:
        return f"m {table} {handle} {_ref(a)}"

    @staticmethod
    def _on_sw_ctl_table_delete(table: int, handle: int) -> str:
        return f"x {table} {handle}"

    @staticmethod
    def _on_sw_ctl_table_default(table: int, a: CData) -> str:
        return f"d {table} 0" if a == ffi().NULL else f"d {table} 1 {_ref(a)}"

    @staticmethod
    def _on_sw_ctl_member_set(slot: int, action: int, args: bytes, n: int) -> str:
        return f"M {slot} {action} {n} {args.hex()}"

    @staticmethod
    def _on_sw_ctl_member_drop(slot: int) -> str:
        return f"N {slot}"

    @staticmethod
    def _on_sw_ctl_group_set(slot: int, n: int, members: list[int]) -> str:
        return f"R {slot} {n} {_list(members)}"

    @staticmethod
    def _on_sw_ctl_group_drop(slot: int) -> str:
        return f"T {slot}"

    @staticmethod
    def _on_sw_ctl_session_set(
        number: int, n: int, ports: list[int], instances: list[int], cos: int, cut: int
    ) -> str:
        return f"S {number} {n} {_list(ports)} {_list(instances)} {cos} {cut}"

    @staticmethod
    def _on_sw_ctl_mgroup_set(number: int, n: int, ports: list[int], instances: list[int]) -> str:
        return f"G {number} {n} {_list(ports)} {_list(instances)}"

    @staticmethod
    def _on_sw_ctl_inject(port: int, data: bytes, n: int) -> str:
        return f"P {port} {n} {data.hex()}"

    @staticmethod
    def _on_sw_ctl_advance(ns: int) -> str:
        return f"A {ns}"

    @staticmethod
    def _on_sw_ctl_port_queue(port: int, depth: int, pps: int, bps: int, delay: int) -> str:
        return f"Q {port} {depth} {pps} {bps} {delay}"

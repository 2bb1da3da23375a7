"""A p4runtime-shell session: run by p4runtime-shell's Python, with HOST:PORT, P4Info and JSON.

Lines that start with "> " are for the test; p4runtime-shell prints others.
"""

import sys

import p4runtime_sh.shell as sh  # type: ignore[import-not-found]
from p4runtime_sh.p4runtime import P4RuntimeWriteException  # type: ignore[import-not-found]


def tables() -> None:
    entry = sh.TableEntry("host")(action="send")
    entry.match["dst"] = "00:00:00:00:00:01"
    entry.action["port"] = "2"
    entry.insert()
    try:
        entry.insert()
    except P4RuntimeWriteException as error:
        print("> second insert:", [e.canonical_code for _, e in error.errors])
    entry.read(lambda found: print("> host:", found.action["port"].value.hex()))
    entry.action["port"] = "3"
    entry.modify()
    entry.read(lambda found: print("> host:", found.action["port"].value.hex()))
    entry.delete()
    print("> hosts left:", len(list(sh.TableEntry("host").read())))
    acl = sh.TableEntry("acl")(action="drop")
    acl.match["src"] = "00:00:00:00:00:00&&&ff:ff:00:00:00:00"
    acl.match["type"] = "1..5"
    acl.match["port"] = "3"
    acl.priority = 4
    acl.insert()
    acl.read(lambda found: print("> acl:", found.priority))
    default = sh.TableEntry("learning")(action="learn", is_default=True)
    default.modify()


def profiles() -> None:
    member = sh.ActionProfileMember("nexthops")(member_id=1, action="send")
    member.action["port"] = "1"
    member.insert()
    group = sh.ActionProfileGroup("nexthops")(group_id=1)
    group.add(1, 1)
    group.insert()
    route = sh.TableEntry("route")
    route.match["dst"] = "00:00:00:01:00:00/32"
    route.group_id = 1
    route.insert()
    sh.TableEntry("route").read(lambda found: print("> route:", found.group_id))


def others() -> None:
    counter = sh.CounterEntry("port_rx")
    counter.index = 1
    counter.packet_count = 5
    counter.modify()
    counter.read(lambda found: print("> counter:", found.packet_count))
    meter = sh.MeterEntry("limiter")
    meter.index, meter.cir, meter.cburst, meter.pir, meter.pburst = 1, 1, 2, 3, 4
    meter.modify()
    meter.read(lambda found: print("> meter:", found.pir))
    multicast = sh.MulticastGroupEntry(1)
    multicast.add(1, 1).add(2, 2)
    multicast.insert()
    for found in sh.MulticastGroupEntry(1).read():
        print("> multicast:", [(r.egress_port, r.instance) for r in found.replicas])
    clone = sh.CloneSessionEntry(1)
    clone.add(3)
    clone.insert()
    digest = sh.DigestEntry("learn_t")
    digest.max_list_size, digest.max_timeout_ns, digest.ack_timeout_ns = 5, 1000, 1000
    digest.insert()
    packet = sh.PacketOut(b"from the shell")
    packet.metadata["egress_port"] = "1"
    packet.metadata["pad"] = "0"
    packet.send()
    print("> version:", sh.APIVersion())


def main() -> None:
    address, p4info, p4blob = sys.argv[1:]
    config = sh.FwdPipeConfig(p4info, p4blob)
    sh.setup(device_id=1, grpc_addr=address, election_id=(0, 1), config=config)
    try:
        tables()
        profiles()
        others()
    finally:
        sh.teardown()


if __name__ == "__main__":
    main()

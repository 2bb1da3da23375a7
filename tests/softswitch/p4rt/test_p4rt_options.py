"""The command line of fcn-softswitch."""

from pathlib import Path

import pytest

from fcn.softswitch.api import PortQueue
from fcn.softswitch.p4rt.options import parse_options
from fcn.softswitch.p4rt.transport import Transport

BMV2_ARGV = (
    "--device-id 1 -i 1@veth1 -i 2@veth2 --no-p4 --log-console -L warn --thrift-port 9090 "
    "--pcap --nanolog ipc:///tmp/x.ipc "
    "-- --grpc-server-addr 127.0.0.1:50051 --cpu-port 510 --drop-port 511"
)


def test_arguments_of_simple_switch_grpc() -> None:
    options = parse_options(BMV2_ARGV.split())
    assert options.device_id == 1
    assert options.interfaces == {1: "veth1", 2: "veth2"}
    assert options.program is None
    assert options.log_level == "warn"
    assert options.transport == Transport("127.0.0.1:50051")
    assert (options.cpu_port, options.drop_port) == (510, 511)
    assert sorted(options.ignored) == ["--nanolog", "--pcap", "--thrift-port"]


def test_without_an_address_it_listens_on_loopback() -> None:
    transport = parse_options(["--no-p4"]).transport
    assert transport == Transport("127.0.0.1:9559")
    assert transport.credentials() is None


def test_arguments_of_the_tutorials() -> None:
    """As utils/p4runtime_switch.py of p4lang/tutorials puts them together."""
    argv = (
        "-i 1@s1-eth1 --pcap pcaps --nanolog ipc:///tmp/bm-0-log.ipc --device-id 0 "
        "build/basic.json --log-console --thrift-port 9090 -- --grpc-server-addr 0.0.0.0:50051 "
        "--cpu-port 510 --priority-queues 3"
    )
    options = parse_options(["--insecure", *argv.split()])
    assert options.program == Path("build/basic.json")
    assert options.transport == Transport("0.0.0.0:50051", insecure=True)
    assert options.priority_queues == 3
    assert options.ignored == ("--pcap", "--nanolog", "--thrift-port")
    assert parse_options(["--no-p4", "--pcap=pcaps"]).ignored == ("--pcap",)


def test_queues() -> None:
    argv = (
        "-i 1@a -i 2@b -i 3@c --queue 1:depth=64,rate-pps=2k,delay=50us "
        "--queue 2:rate-bps=10M,delay=5ms prog.json"
    )
    options = parse_options(argv.split())
    assert options.program == Path("prog.json")
    assert options.queues == {
        1: PortQueue(depth=64, rate_pps=2000, delay_ns=50_000),
        2: PortQueue(rate_bps=10**7, delay_ns=5_000_000),
    }


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ("", "give a program"),
        ("prog.json --no-p4", "either a program or --no-p4"),
        ("--no-p4 --p4info x", "--p4info belongs to a program"),
        ("--no-p4 -i veth1", "not PORT@INTERFACE"),
        ("--no-p4 -i 512@veth1", "0..511"),
        ("--no-p4 -i 1@a -i 1@b", "port 1 is given twice"),
        ("--no-p4 -i 510@a", "is the cpu port"),
        ("--no-p4 -i 5@a -- --drop-port 5", "is the drop port"),
        ("--no-p4 --queue 1:depth=5", "no -i 1@INTERFACE"),
        ("--no-p4 -i 1@a --queue 1", "not PORT:SETTING=VALUE"),
        ("--no-p4 -i 1@a --queue 1:size=5", "not a queue setting"),
        ("--no-p4 -i 1@a --queue 1:delay=5", "needs a whole number"),
        ("--no-p4 -i 1@a --queue 1:depth=0", "at least 1"),
        ("--no-p4 --wrong", "unrecognized arguments"),
        ("--no-p4 -i 1@a -i 2@a", "interface a is attached to two ports"),
        ("--no-p4 -i 1@a --queue 1:delay=3601s", "an hour at most"),
        ("--no-p4 -i 1@a --queue 1:depth=4294967296", "depth is 4294967295 at most"),
        ("--no-p4 -i 1@a --queue 1:rate-bps=99999999999G", "rate-bps is"),
        ("--no-p4 --device-id -1", "not a number of 0..18446744073709551615"),
        ("--no-p4 --device-id 99999999999999999999999", "not a number of 0.."),
        ("--no-p4 -- --cpu-port 512", "not a number of 0..511"),
        ("--no-p4 -- --drop-port -1", "not a number of 0..511"),
        ("--no-p4 -- --cpu-port 511", "both CPU port and drop port"),
        ("--no-p4 -- --priority-queues 0", "not a number of 1..8"),
        ("--no-p4 -- --grpc-server-addr 127.0.0.1:99999", "is no HOST:PORT or unix:PATH"),
        ("--no-p4 -- --grpc-server-addr nonsense", "is no HOST:PORT or unix:PATH"),
        ("--no-p4 -- --grpc-server-ssl", "unrecognized arguments"),
    ],
)
def test_wrong_arguments(argv: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_options(argv.split())
    assert message in capsys.readouterr().err

"""The command line of fcn-softswitch."""

from pathlib import Path

import pytest

from fcn.softswitch.api import PortQueue
from fcn.softswitch.p4rt.bmv2_options import IGNORED
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
    assert sorted(options.ignored) == ["--nanolog", "--thrift-port"]


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
    options = parse_options(argv.split(), as_bmv2=True)
    assert options.program == Path("build/basic.json")
    assert options.transport == Transport("0.0.0.0:50051", insecure=True)
    assert options.priority_queues == 3
    assert options.ignored == ("--nanolog", "--thrift-port")
    assert options.pcap == Path("pcaps")
    assert parse_options(["--pcap", "--no-p4"]).pcap == Path()
    assert parse_options(["--no-p4"]).pcap is None


def test_called_by_the_name_of_bmv2_it_listens_where_it_is_told_to() -> None:
    """On loopback when it is not told, and it says when others can come."""
    told = parse_options(["--no-p4", "--", "--grpc-server-addr", "0.0.0.0:1"], as_bmv2=True)
    assert told.transport.credentials() is None
    (warning,) = told.transport.warnings()
    assert "0.0.0.0:1 can be reached from other machines without TLS" in warning
    untold = parse_options(["--no-p4"], as_bmv2=True).transport
    assert untold.address == "127.0.0.1:9559"
    assert untold.warnings() == ()
    assert parse_options(["--no-p4"]).transport.insecure is False


def test_options_of_simple_switch_grpc_are_accepted_or_refused_with_a_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All that `simple_switch_grpc --help` of BMv2 1.15 lists, in its order."""
    switch = (
        "-i 3@veth1 --pcap=pcaps --thrift-port 9090 --device-id 1 --nanolog ipc:///tmp/x "
        "--log-file log -L trace --log-flush --log-file-max-size 1 --log-file-max-files 1 "
        "--notifications-addr ipc:///tmp/y --dump-packet-data 9 --no-p4 --max-port-count 9"
    )
    target = (
        "--disable-swap --grpc-server-addr 127.0.0.1:1 --grpc-server-ssl --grpc-server-cacert a "
        "--grpc-server-cert c --grpc-server-key k --grpc-server-with-client-auth --cpu-port 1 "
        "--drop-port 2 --priority-queues 1 --max-mc-groups 1 --max-l1-entries 1 --max-l2-entries 1"
    )
    options = parse_options([*switch.split(), "--", *target.split()])
    assert options.log_file == Path("log.txt")
    assert options.transport == Transport("127.0.0.1:1", Path("c"), Path("k"), Path("a"))
    assert options.warnings == ()
    assert set(options.ignored) == {*IGNORED} - {"--debugger", "--debugger-addr"}
    for argument in ("-h", "-v", "--json-version"):
        with pytest.raises(SystemExit) as ended:
            parse_options([argument])
        assert ended.value.code == 0
    assert capsys.readouterr().out.endswith("2.23\n")


@pytest.mark.parametrize(
    ("argv", "transport", "warning"),
    [
        (
            "--grpc-server-ssl --grpc-server-cert c --grpc-server-key k --grpc-server-cacert a",
            Transport("127.0.0.1:9559", Path("c"), Path("k")),
            "--grpc-server-cacert is not looked at",
        ),
        (
            "--grpc-server-cert c --grpc-server-key k",
            Transport("127.0.0.1:9559"),
            "without --grpc-server-ssl no other option of TLS is looked at",
        ),
    ],
)
def test_tls_options_mean_what_they_mean_to_bmv2(
    argv: str, transport: Transport, warning: str
) -> None:
    options = parse_options(["--no-p4", "--", *argv.split()])
    assert options.transport == transport
    assert warning in options.warnings[0]


def test_a_program_beside_no_p4_is_not_read() -> None:
    options = parse_options(["prog.json", "--no-p4"])
    assert options.program is None
    assert options.warnings == ("prog.json is not read, because of --no-p4",)


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
        ("--no-p4 --log-console --log-file x", "either to --log-file or to --log-console"),
        ("--no-p4 --use-files 3", "frames come from the interfaces"),
        ("--no-p4 --packet-in ipc:///tmp/x", "frames come from the interfaces"),
        ("--no-p4 --restore-state x", "--restore-state cannot be done"),
        ("--no-p4 -- --load-modules x.so", "extern types of libraries"),
        ("--no-p4 -- --dp-grpc-server-addr 0.0.0.0:50052", "frames come from the interfaces"),
        ("--no-p4 -- --grpc-server-ssl", "--grpc-server-ssl needs --grpc-server-cert FILE"),
        ("--no-p4 -- --grpc-server-ssl --grpc-server-cert c", "needs --grpc-server-key FILE"),
        (
            "--no-p4 -- --grpc-server-ssl --grpc-server-cert c --grpc-server-key k "
            "--grpc-server-with-client-auth",
            "needs --grpc-server-cacert FILE",
        ),
        ("--no-p4 -- --certificate c --grpc-server-ssl", "not both"),
    ],
)
def test_wrong_arguments(argv: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_options(argv.split())
    assert message in capsys.readouterr().err

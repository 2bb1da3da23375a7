"""What is executed of the documentation's commands, and why some are not."""

RUN = "out/lab/dumbbell-fcn-1"

INSTEAD = {
    # Placeholders, and addresses of this network.
    "fcn pki init FOLDER": "fcn pki init certificates",
    "fcn lab compare A B": f"fcn lab compare out/lab/dumbbell-ecn-1 {RUN}",
    "fcn lab import hpcc T F": "fcn lab import hpcc topology.txt flow.txt -o taken.yaml",
    "fcn lab trace A --frame 4711": f"fcn lab trace {RUN} --frame 4711",
    "fcn status --api unix:/root/fcn/out/topology/api/fcn.sock": "fcn status --api $FCN_API",
    'ln -s "$(command -v fcn-softswitch)" FOLDER/simple_switch_grpc': (
        'ln -s "$(command -v fcn-softswitch)" simple_switch_grpc'
    ),
    # Ports that are free.
    "fcn page": "fcn page --listen 127.0.0.1:0",
    f"fcn lab play {RUN}": f"fcn lab play {RUN} --listen 127.0.0.1:0",
    "fcn lab play A B": f"fcn lab play {RUN} --listen 127.0.0.1:0",
    # The network has its controller already: this one has switches that are away.
    "fcn run -c network.yaml": "fcn run -c alone.yaml",
    "fcn run -c network.yaml --as east": "fcn run -c pair.yaml --as east",
    "fcn run -c network.yaml --as west": "fcn run -c pair.yaml --as west",
}  # fmt: skip
"""What is executed in place of a command."""

FIRST = {
    f"fcn lab compare out/lab/dumbbell-ecn-1 {RUN}": "fcn lab run dumbbell --mode ecn --until 5ms"
}
"""What a reader has done before, and no page says as a command."""

UNTIL = {
    "fcn run -c alone.yaml": r"\S",
    "fcn run -c pair.yaml --as east": r"\S",
    "fcn run -c pair.yaml --as west": r"\S",
    "fcn events": r"\S",
    "fcn page --listen 127.0.0.1:0": r"http://\S+",
    "fcn top": "nodes up",
    f"fcn lab play {RUN} --listen 127.0.0.1:0": r"http://\S+",
    "fcn capture pe1 1": r"10\.2\.1\.10",
    'fcn capture pe1 3 -w out.pcap -c 1000 --filter "udp port 1021"': "listening on",
}
"""Commands that run until they are ended, by what they say first."""

_MINUTES = "minutes of traffic: `make test` and CI run it"
_MACHINE = "needs other machines; tests/controller/northbound has roles and TLS over TCP"
_INSTALLS = "installs something; CI installs what is built, and tests/packaging looks at it"
_PORTS = "needs eth1 and eth2; tests/softswitch/p4rt/test_p4rt_command.py starts it with others"
_CHIP = "needs the vendor's compiler or model of the chip"

ELSEWHERE = {
    "make demo*": _MINUTES,
    "make test": "it would run itself",
    "pip install *": _INSTALLS,
    "apt-get install python3-venv python3-dev gcc libc6-dev git": _INSTALLS,
    "git clone REPOSITORY fcn": _INSTALLS,
    "cd /etc/fcn/pe1": _MACHINE,
    "fcn --tls operators/alice status --api *": _MACHINE,
    "fcn lab sweep grid.yaml --cluster *": "needs a cluster; tests/lab/sweep makes one",
    "fcn-softswitch *": _PORTS,
    "simple_switch_grpc *": _PORTS,
    "*tofino*": _CHIP,
}
"""Commands that are not executed here, by pattern, and why."""

# `make demo` and `make test` need nothing but Debian 12 and root; they set up what is missing.
.DEFAULT_GOAL := help
.PHONY: help setup demo demo-failover interop test test-all chaos lint docs moving shell-env unit ptf ptf-profiles system p4 p4-check tofino proto ffi bench bench-learning bench-scale learning findings clean

PYTHON := .venv/bin/python
# The switch the demo runs on: bmv2 where it is installed, else the embedded softswitch.
TARGET ?= $(if $(shell command -v simple_switch_grpc),bmv2,softswitch)
# What the demo compares: also none, end-con, two-threshold, fantel, service, flow and priority.
MODES ?= ecn fcn
# The tunnels of the interop run: also gre and mpls-udp.
TUNNELS ?= srv6 vxlan
# Simulated networks of the table of docs/learning.md.
SEEDS ?= 10000
# Ends of controllers in `make chaos`.
KILLS ?= 1000
# The switches the packet tests run on: the softswitch always, BMv2 where it is installed.
PTF_TARGETS ?= softswitch $(if $(shell command -v simple_switch_grpc),bmv2)
TARGETS_HERE = $(or $(strip $(PTF_TARGETS)),$(error PTF_TARGETS names no switch: give softswitch, bmv2 or tofino))
# Processes that run unit tests, which wait for others, too; a file's tests stay together.
JOBS ?= 3
# Shares of the packet tests, which wait more than they compute.
SHARES ?= 4
# What test-all runs beside.
ALL ?=
# Few packets pass what is compiled for unit tests, and -Og takes less than half as long as the -O2 of the packet tests.
PYTEST := $(if $(ALL),,CFLAGS=-Og )$(PYTHON) -m pytest -n $(JOBS) --dist loadfile
PROFILES := fcn two-threshold flow-control fantel
SELECT := $(if $(ALL),,-m "not exhaustive")
# Hundreds of processes would compile each module again.
unexport PYTHONDONTWRITEBYTECODE

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what is missing (called by the others)
	@scripts/setup.sh

demo: setup ## ECN alone against FCN in a Mininet WAN; plots in out/demo (TARGET=softswitch|bmv2 MODES="ecn fcn …")
	$(PYTHON) -m fcn.topologies.demo --target $(TARGET) $(addprefix --mode ,$(MODES))

demo-failover: setup ## a link dies under RDMA traffic, the controller being stopped; plot in out/failover
	$(PYTHON) -m fcn.topologies.failover --target $(TARGET)

interop: setup ## real RoCEv2 stacks: SoftRoCE guests across the WAN; results in out/interop
	$(PYTHON) -m fcn.topologies.interop --target $(TARGET) $(addprefix --tunnel ,$(TUNNELS))

# The unit tests run beside the packet tests. Queues of system are real, so it is last.
test: setup ## everything CI runs
	@$(MAKE) --no-print-directory -j 3 --output-sync=target ptf unit lint docs p4-check
	@$(MAKE) --no-print-directory system

test-all: ## the same, and the tests marked exhaustive: before an issue is called resolved
	@$(MAKE) --no-print-directory test ALL=1
	@$(MAKE) --no-print-directory ptf-profiles

chaos: setup ## controllers, switches and channels fail at random, in virtual time (KILLS=1000: of controllers; half an hour)
	PYTHONPATH=tests/controller:tests/controller/leadership $(PYTHON) tests/controller/leadership/chaos.py $(KILLS)

docs: setup ## the documentation as a site that can be searched: out/docs/index.html
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet --strict

moving: setup ## README's moving picture, docs/live.webp, anew from a run (needs chromium)
	$(PYTHON) -m tools.moving

# One run of mypy, which reads what others need once: each conftest.py has a name of its own for it.
lint: setup ## formatting, lint, imports, types
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	.venv/bin/lint-imports --no-logo --no-cache
	@links=$$(mktemp -d) && trap 'rm -r "$$links"' EXIT && \
	for file in $$(find tests -name conftest.py); do ln -s "$$PWD/$$file" "$$links/$$(echo $$file | tr / _)"; done && \
	MYPYPATH=$$(find tests -name '*.py' -printf '%h\n' | sort -u | paste -sd:) \
		$(PYTHON) -m mypy fcn tools $$(find tests -name '*.py' ! -name conftest.py) "$$links"

p4-check: setup ## compiled programs: are they those of the sources, every local written before it is read?
	$(PYTHON) -m tools.p4.compile --check

shell-env: setup ## p4runtime-shell in an environment of its own, as `fcn shell` makes it
	@$(PYTHON) -c 'from rich.console import Console; \
		from fcn.controller.cli.shell import ready_environment; ready_environment(Console())'

unit: setup shell-env ## unit and integration tests
	$(PYTEST) $(SELECT) --ignore=tests/system

ptf: setup ## packet tests on every target here (PTF_TARGETS); they pass 98 % of each program at least
	@for target in $(TARGETS_HERE); do $(PYTHON) -m fcn.ptf_tests --jobs $(SHARES) --target $$target || exit 1; done
	@test -n "$$FCN_TOFINO_MODEL" || \
		echo "FCN_TOFINO_MODEL is not set: tests on the chip's model are skipped (docs/tofino.md)"

ptf-profiles: setup ## the packet tests that each profile but `full` can pass, on every target here
	@for target in $(TARGETS_HERE); do for profile in $(PROFILES); do \
		$(PYTHON) -m fcn.ptf_tests --jobs $(SHARES) --target $$target --profile $$profile || exit 1; done; done

system: setup ## whole networks: capture replay
	$(PYTEST) $(SELECT) tests/system

p4: setup ## recompile p4src (needs p4c)
	$(PYTHON) -m tools.p4.compile

tofino: setup ## place and assemble the TNA programs for both Tofinos (needs p4c-barefoot and bfas)
	$(PYTHON) -m tools.p4.tofino $(if $(COMMIT),--commit "$(COMMIT)")

proto: setup ## regenerate the messages of our own services
	$(PYTHON) -m grpc_tools.protoc -I. --python_out=. --pyi_out=. $(wildcard fcn/controller/proto/*.proto)
	sed -i '/_FIELD_NUMBER: /d' $(wildcard fcn/controller/proto/*.pyi) # nobody asks for them
	$(PYTHON) -m grpc_tools.protoc -I. --python_out=. $(wildcard fcn/contract/proto/*.proto fcn/softswitch/proto/*.proto)

ffi: setup ## regenerate what cffi makes of C interfaces
	$(PYTHON) -m tools.ffi

# README quotes what both switches do, so its figures are written where both are installed.
bench: setup ## all figures of README but the findings: softswitch against BMv2 (BASELINE=COMMIT: also what its programs cost), the demo; laboratory
	$(PYTHON) -m fcn.bench.forwarding
	$(PYTHON) -m fcn.bench.demo
	$(PYTHON) -m fcn.bench.tracing --seconds 3
	$(PYTHON) -m fcn.bench.laboratory
	$(PYTHON) -m fcn.bench.reaction
	$(if $(shell command -v valgrind),$(PYTHON) -m fcn.bench.instructions $(addprefix --baseline ,$(BASELINE)))
	$(if $(shell command -v simple_switch_grpc),$(PYTHON) -m fcn.bench.readme)

bench-scale: setup ## what many flows cost on a PE (FLOWS=100000)
	$(PYTHON) -m fcn.bench.scale $(addprefix --flows ,$(FLOWS))

bench-learning: setup ## how fast flows are learned, beside a flood too (BASELINE=COMMIT: also with that controller)
	$(PYTHON) -m fcn.bench.learning $(addprefix --baseline ,$(BASELINE))

learning: setup ## how much is learned of who sends a flow, by simulation (SEEDS=10000; an hour)
	PYTHONPATH=tests/controller $(PYTHON) tests/controller/flows/learning_table.py $(SEEDS)

findings: setup ## the laboratory's findings: grids, docs/findings.md, plots (a quarter of an hour; goes on where it was stopped)
	$(PYTHON) -m fcn.bench.findings

clean: ## remove what was built
	rm -rf .venv out build *.egg-info ~/.cache/fcn

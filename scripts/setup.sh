#!/usr/bin/env bash
# Installs what fcn needs on Debian 12: system packages that are missing, then a virtual environment
# with pinned Python packages. Does nothing when everything is there.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\033[1m[setup]\033[0m %s\n' "$*"; }

# mininet's Python module belongs to the system's interpreter, so the environment is made by it.
packages=(python3 python3-venv python3-dev gcc libc6-dev mininet iproute2 iputils-ping ethtool procps
          openssl tcpdump tshark)
missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if ((${#missing[@]})); then
    if ((EUID != 0)); then
        say "needs root to install: ${missing[*]}"
        say "run: sudo apt-get install ${missing[*]}"
        exit 1
    fi
    say "installing Debian packages: ${missing[*]}"
    apt-get -o DPkg::Lock::Timeout=300 update -qq
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if [[ ! -x .venv/bin/python ]]; then
    say "creating .venv"
    /usr/bin/python3 -m venv --system-site-packages .venv
fi

wanted=$(cat pyproject.toml constraints.txt | sha256sum)
if [[ "$(cat .venv/.installed 2>/dev/null)" != "$wanted" ]]; then
    say "installing Python packages (pinned in constraints.txt)"
    # The distribution was called fcn once: removed later, it would take the commands with it.
    .venv/bin/python -m pip uninstall -qq --disable-pip-version-check --yes fcn
    parts='.[test,demo,lab,sweep,page,top,docs,dev]'
    # uv takes a sixth of pip's time, but does not read pip's settings of mirrors and proxies.
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
    .venv/bin/uv pip install --quiet --native-tls --python .venv/bin/python \
        --constraint constraints.txt --editable "$parts" ||
        .venv/bin/python -m pip install --quiet --disable-pip-version-check \
            --constraint constraints.txt --editable "$parts"
    printf '%s\n' "$wanted" >.venv/.installed
fi

if command -v simple_switch_grpc >/dev/null; then
    say "ready; BMv2 found: $(command -v simple_switch_grpc)"
else
    say "ready; no BMv2 on PATH, using the embedded softswitch"
fi

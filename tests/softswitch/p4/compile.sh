#!/bin/sh
# Recompile the test programs of this directory; needs p4c-bm2-ss.
set -e
cd "$(dirname "$0")"
for p in *.p4; do
    p4c-bm2-ss --std p4-16 --p4runtime-files "${p%.p4}.p4info.txtpb" -o "${p%.p4}.json" "$p"
done

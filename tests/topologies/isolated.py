"""Run by test_isolation.py as `python -m isolated CASE`: enters namespaces, then does the case."""

import os
import sys

from fcn.topologies.isolation import enter, wait_for_signal

enter("isolated", sys.argv[1:])
print(f"inside {os.readlink('/proc/self/ns/net')}", flush=True)
match sys.argv[1]:
    case "serve":
        wait_for_signal(lambda: print("waiting", flush=True))
        print("ended in order", flush=True)
    case "work":
        try:
            while True:
                os.read(sys.stdin.fileno(), 1)
        finally:
            print("cleaned up", flush=True)
    case status:
        sys.exit(int(status))

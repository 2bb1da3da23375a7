"""Run by test_isolation.py as `python -m isolated CASE`: enters namespaces, then does the case."""

import os
import sys

from fcn.topologies.isolation import enter, wait_for_signal

enter("isolated", sys.argv[1:])
inside = f"inside {os.readlink('/proc/self/ns/net')}"
match sys.argv[1]:
    case "serve":
        print(inside, flush=True)
        wait_for_signal(lambda: print("waiting", flush=True))
        print("ended in order", flush=True)
    case "work":
        try:
            # Who reads this sends a signal, which may arrive before the next statement.
            print(inside, flush=True)
            while True:
                os.write(sys.stdout.fileno(), os.read(sys.stdin.fileno(), 1))
        finally:
            print("cleaned up", flush=True)
    case status:
        print(inside, flush=True)
        sys.exit(int(status))

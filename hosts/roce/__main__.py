"""`fcn-roce`, as `python -m fcn.hosts.roce`: compiled when it is first run."""

import os
import sys

from fcn.hosts.build import BuildError
from fcn.hosts.roce.build import fcn_roce


def main() -> None:
    try:
        program = fcn_roce()
    except BuildError as error:
        sys.exit(f"fcn-roce: {error}")
    os.execv(program, ["fcn-roce", *sys.argv[1:]])


if __name__ == "__main__":
    main()

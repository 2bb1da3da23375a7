"""`fcn lab`, as `python -m fcn.lab`."""

from fcn.lab.cli.main import main

if __name__ == "__main__":
    main()

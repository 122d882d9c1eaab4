"""`python -m dpassay.verifiers.cli`, as `dpassay`."""

from . import main

if __name__ == "__main__":
    main()

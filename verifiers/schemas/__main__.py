"""`python -m dpassay.verifiers.schemas FOLDER` writes the published schemas."""

import sys
from pathlib import Path

from . import write_schemas

if __name__ == "__main__":
    write_schemas(Path(sys.argv[1]))

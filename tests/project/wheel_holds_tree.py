"""Exits 1 unless the wheel holds every file of the three code folders: ROOT WHEEL."""

import sys
import zipfile
from pathlib import Path


def main(root: Path, wheel: Path) -> int:
    wanted = {
        f"dpassay/{path.relative_to(root).as_posix()}"
        for folder in ("reference", "attacks", "verifiers")
        for path in (root / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    held = set(zipfile.ZipFile(wheel).namelist())
    missing = sorted(wanted - held)
    extra = sorted(name for name in held - wanted if ".dist-info/" not in name)
    for name in missing:
        print(f"missing from the wheel: {name}")
    for name in extra:
        print(f"in the wheel but not in the tree: {name}")
    print(f"{len(wanted)} files in the tree, {len(wanted) - len(missing)} of them in the wheel")
    return 1 if missing or extra or not wanted else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))

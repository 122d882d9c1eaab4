"""`python -m benchmarks.walk`: how often whoever reads along a plan of labels returns to a file.

The reader follows `make_plan` as it runs, and reads each function once, when it is first called. A
stay in a file ends where the next function lies in another one. Few returns mean that a file can be
read from top to bottom, and closed.
"""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

from dpassay.verifiers.kinds.labels import planning
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.reading import parse_claim

MECHANISM = {"name": "gnmax", "noise": "gaussian:8", "classes": 4, "teachers": 60}


def stays(call: Callable[[], object], folder: Path) -> list[str]:
    """The files of a folder, by name, in the order in which a call comes to functions of them.

    What is defined within a function (another function, a comprehension) is read with it.
    """
    read: set[CodeType] = set()
    found: list[str] = []

    def follow(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or code in read or "<" in code.co_qualname:
            return
        read.add(code)
        path = Path(code.co_filename)
        if path.parent == folder and found[-1:] != [path.name]:
            found.append(path.name)

    sys.setprofile(follow)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def main() -> None:
    """Prints how often each file is returned to, those returned to most first."""
    claim = parse_claim({"mechanism": MECHANISM})
    walk = stays(lambda: make_plan(claim, 0), Path(str(planning.__file__)).parent)
    files = Counter(walk)
    print(f"{len(walk)} stays in {len(files)} files: {len(walk) - len(files)} returns")
    for name, times in files.most_common():
        print(f"{times - 1:4d}  {name}")


if __name__ == "__main__":
    main()

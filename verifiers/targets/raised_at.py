"""Where in a target's own code an error was raised."""

import sysconfig
import traceback
from pathlib import Path

_OURS = Path(__file__).resolve().parents[1]
_OTHERS = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib"))


def raised_at(error: BaseException) -> str:
    """The last line of the target's own files that an error passed, or nothing if there is none.

    The name of the file alone, since reports are handed on. Libraries are left out, so that it is a
    line that the target's author can change.
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        whole = path.resolve()
        if path.is_file() and not any(whole.is_relative_to(place) for place in (_OURS, *_OTHERS)):
            return f" at {path.name}:{frame.lineno}, in {frame.name}"
    return ""

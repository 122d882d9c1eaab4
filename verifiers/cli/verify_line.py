"""The command line that repeats a run."""

import shlex
from typing import Any

_FLAGS = {"keep_going": "--keep-going", "stop_at_once": "--stop-at-once", "strict": "--strict"}
_OPTIONS = {
    "claim_file": "--claim",
    "demo": "--demo",
    "max_queries": "--max-queries",
    "queries": "--queries",
    "compare": "--compare",
    "checks": "--check",
    "skipped": "--skip",
    "typed": "--histogram",
    "file": "--histograms",
}
"""Options by the parameters of `dpassay verify` that have their values."""


def verify_line(spec: str | None, **given: Any) -> str:
    """`dpassay verify` with the options that were given; tuples are of repeated ones.

    spec: the target without credentials, None for the reference; given: parameters of the command,
    of which those that do not change what is asked are left out. The seed, which a run may choose
    itself, is added by the run.
    """
    words = ["dpassay", "verify"] + ([] if spec is None else [spec])
    words += [option for name, option in _FLAGS.items() if given.get(name)]
    for name, option in _OPTIONS.items():
        value = given.get(name)
        values = value if isinstance(value, tuple) else (value,)
        words += [word for one in values if one is not None for word in (option, str(one))]
    return shlex.join(words)

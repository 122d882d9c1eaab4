"""The command line that repeats a run."""

import shlex
from pathlib import Path


def verify_line(
    spec: str | None,
    *,
    claim: str | Path | None = None,
    demo: str | None = None,
    max_queries: int | None = None,
    queries: int | None = None,
    compare: str | None = None,
    keep_going: bool = False,
    stop_at_once: bool = False,
    checks: tuple[str, ...] = (),
    skipped: tuple[str, ...] = (),
    histograms: tuple[str, ...] = (),
    histogram_file: str | None = None,
) -> str:
    """`dpassay verify` with the options that were given, repeated ones included.

    spec: the target without credentials, None for the reference. The seed, which a run may choose
    itself, is added by the run.
    """
    flags = {"--keep-going": keep_going, "--stop-at-once": stop_at_once}
    options: dict[str, tuple[object, ...]] = {
        "--claim": (claim,),
        "--demo": (demo,),
        "--max-queries": (max_queries,),
        "--queries": (queries,),
        "--compare": (compare,),
        "--check": checks,
        "--skip": skipped,
        "--histogram": histograms,
        "--histograms": (histogram_file,),
    }
    words = ["dpassay", "verify"] + ([] if spec is None else [spec])
    words += [flag for flag, given in flags.items() if given]
    for name, values in options.items():
        words += [word for value in values if value is not None for word in (name, str(value))]
    return shlex.join(words)

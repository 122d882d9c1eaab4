"""One run of training, audited: `python -m benchmarks.one_run`; docs/results/one-run.md.

Trains with opacus and jax-privacy in environments of their own under .benchmarks/field, which it
makes the first time (a gigabyte, and pip needs a network). Stopped, it goes on where it was.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpassay.attacks import auditing

from ..field.environments import ENVIRONMENTS
from ..field.rows import CALLS
from ..long_runs import Part, add_workers, carried_out, workers
from ..pages import write_page
from .audited import by_others, kinds
from .limits import CASES, SIZES, refuted
from .page import page
from .simulated import (
    LAWS,
    OTHERS_RUNS,
    OTHERS_TOGETHER,
    RUNS,
    TOGETHER,
    others,
    ours,
)
from .trainings import LIBRARIES, MADE_OF, NAME, parts, trained

_HERE, _AUDITING = Path(__file__).parent, Path(auditing.__file__).parent
_OURS = [_AUDITING / f"{name}.py" for name in ("canary_guesses", "one_run", "one_run_curve")]
_OTHERS = [CALLS / "jax_privacy_auditing.py", CALLS / "privacyguard_auditing.py"]


def _of(*names: str) -> list[Path]:
    return [_HERE / f"{name}.py" for name in ("settings", "exact", *names)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_run", description=__doc__)
    add_workers(parser, default=1)
    asked = parser.parse_args()
    for name in (*(environment for _, environment in LIBRARIES.values()), "privacyguard-0.0.2"):
        ENVIRONMENTS[name].make()
    limit_parts = [(*case, size) for case in CASES for size in SIZES]
    our_parts = [(*law, first) for law in LAWS for first in range(0, RUNS, TOGETHER)]
    other_parts = [
        (*law, first) for law in LAWS for first in range(0, OTHERS_RUNS, OTHERS_TOGETHER)
    ]
    with workers(asked) as executor:

        def done(
            work: Callable[..., Any], of: list[Any], name: str, made_of: list[Path]
        ) -> list[tuple[Part, Any]]:
            return list(zip(of, carried_out(work, of, name, executor, made_of), strict=True))

        trainings = done(trained, parts(), NAME, MADE_OF)
        limits = done(refuted, limit_parts, "one-run-limits", [*_of("limits"), *_OURS])
        own = done(ours, our_parts, "one-run-ours", [*_of("simulated"), *_OURS])
        by_kind = {part[:3]: part for part in reversed(parts()) if part[0] == "opacus"}
        firsts = [*by_kind.values()][::-1]
        beside = done(by_others, firsts, "one-run-beside", [*MADE_OF, *_of("peers"), *_OTHERS])
        made_of = [*_of("simulated", "peers"), *_OTHERS]
        foreign = done(others, other_parts, "one-run-others", made_of)
    write_page("one-run.md", page(kinds(trainings), limits, own, foreign, beside))


if __name__ == "__main__":
    main()

"""Labels or numbers, as a claim says: for those who need not know which of the two gates it is."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...findings.report import Report
from ...targets import InProcessTarget, Target
from ..labels import error_budget
from ..labels.claim import Claim, is_of_numbers, parse_claim, read_table
from ..labels.gathering.diagnosis import AfterFailure
from . import shares
from .claim import NumbersClaim, parse_numbers_claim

AnyClaim = Claim | NumbersClaim


def parse_any_claim(
    table: dict[str, Any], source: str = "claim", folder: Path | None = None
) -> AnyClaim:
    """The claim in `table` (parsed TOML). Raises ClaimError; folder: see `parse_claim`."""
    if is_of_numbers(table):
        return parse_numbers_claim(table, source)
    return parse_claim(table, source, folder)


def read_any_claim(path: str | Path) -> AnyClaim:
    """The claim in the TOML file at `path`. Raises ClaimError."""
    return parse_any_claim(read_table(path), str(path), Path(path).parent)


def check_ids(claim: AnyClaim) -> Iterable[str]:
    """The checks of a run under a claim, in the order of its report."""
    return shares.SHARES if isinstance(claim, NumbersClaim) else error_budget.SHARES


def verify_any(
    target: Target,
    claim: AnyClaim,
    *,
    seed: int | None = None,
    reproduce: str | None = None,
    name: str | None = None,
    after_failure: AfterFailure = "diagnose",
) -> Report:
    """Runs the checks of a claim on its target; the arguments are those of `gate.verify`."""
    if isinstance(claim, NumbersClaim):
        from .run import verify_numbers

        return verify_numbers(
            target,
            claim,
            seed=seed,
            reproduce=reproduce,
            name=name,
            after_failure=after_failure,
        )
    from ..labels.gathering import verify

    return verify(
        target, claim, seed=seed, reproduce=reproduce, name=name, after_failure=after_failure
    )


def reference_of(claim: AnyClaim) -> InProcessTarget:
    """The reference implementation of the claimed mechanism."""
    if isinstance(claim, NumbersClaim):
        from .embedded import reference_target as of_numbers

        return of_numbers(claim)
    from ..labels.embedded import reference_target

    return reference_target(claim)

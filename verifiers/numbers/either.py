"""Labels or numbers, as a claim says: for those who need not know which of the two gates it is."""

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .. import error_budget
from ..claim import OF_LABELS, OF_NUMBERS, Claim, ClaimError, is_of_numbers, parse_claim, read_table
from ..findings.report import Report
from ..gate.diagnosis import AfterFailure
from ..targets import InProcessTarget, Target
from ..targets.replies import shown_repr
from . import shares
from .claim import NumbersClaim, parse_numbers_claim

AnyClaim = Claim | NumbersClaim


def parse_any_claim(table: dict[str, Any], source: str = "claim") -> AnyClaim:
    """The claim in `table` (parsed TOML). Raises ClaimError."""
    _check_name(table, source)
    parse = parse_numbers_claim if is_of_numbers(table) else parse_claim
    return parse(table, source)


def _check_name(table: dict[str, Any], source: str) -> None:
    """Raises ClaimError for a mechanism of neither: what else is wrong depends on which it is."""
    mechanism = table.get("mechanism")
    name = mechanism.get("name") if isinstance(mechanism, dict) else ""
    if not isinstance(name, str) or name in (*OF_LABELS, *OF_NUMBERS, ""):
        return
    near = difflib.get_close_matches(name, (*OF_LABELS, *OF_NUMBERS), 1)
    meant = f"did you mean {near[0]}? " if near else ""
    raise ClaimError(
        f"{source}: mechanism.name = {shown_repr(name)}: {meant}of labels: "
        f"{', '.join(OF_LABELS)}; of numbers: {', '.join(OF_NUMBERS)}"
    )


def read_any_claim(path: str | Path) -> AnyClaim:
    """The claim in the TOML file at `path`. Raises ClaimError."""
    return parse_any_claim(read_table(path), str(path))


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
    from ..gate import verify

    return verify(
        target, claim, seed=seed, reproduce=reproduce, name=name, after_failure=after_failure
    )


def reference_of(claim: AnyClaim) -> InProcessTarget:
    """The reference implementation of the claimed mechanism."""
    if isinstance(claim, NumbersClaim):
        from .embedded import reference_target as of_numbers

        return of_numbers(claim)
    from ..embedded import reference_target

    return reference_target(claim)

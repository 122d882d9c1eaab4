"""Claims of either kind, of labels or of numbers: how a file is read without knowing which."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import error_budget
from .claim import Claim, parse_claim, read_table
from .numbers import shares
from .numbers.claim import NumbersClaim, is_of_numbers, parse_numbers_claim

AnyClaim = Claim | NumbersClaim


def parse_any_claim(table: dict[str, Any], source: str = "claim") -> AnyClaim:
    """The claim in `table` (parsed TOML). Raises ClaimError."""
    parse = parse_numbers_claim if is_of_numbers(table) else parse_claim
    return parse(table, source)


def read_any_claim(path: str | Path) -> AnyClaim:
    """The claim in the TOML file at `path`. Raises ClaimError."""
    return parse_any_claim(read_table(path), str(path))


def check_ids(claim: AnyClaim) -> Iterable[str]:
    """The checks of a run under a claim, in the order of its report."""
    return shares.SHARES if isinstance(claim, NumbersClaim) else error_budget.SHARES

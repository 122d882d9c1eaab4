"""The ledger that a run adds to, as options name it."""

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import click

from ..text import printable

if TYPE_CHECKING:
    from ..claims.claim import Claim
    from ..ledger.ledger import EvidenceLedger


def named_ledger(
    file: str | None, build: str | None, target: str | None, claim: "Claim"
) -> "AbstractContextManager[EvidenceLedger | None]":
    """That in a file, None without one; build: else by the target's files. Raises LedgerError."""
    if file is None:
        return nullcontext()
    from ..ledger.builds import build_of
    from ..ledger.ledger import open_ledger

    def wait(line: str) -> None:
        click.echo(f"dpassay: {printable(line)}", err=True)

    return open_ledger(file, claim, build or build_of(target), wait)

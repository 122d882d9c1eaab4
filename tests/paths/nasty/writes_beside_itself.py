"""Keeps a ledger beside its own file."""

from pathlib import Path

LEDGER = Path(__file__).with_name("ledger.txt")


def aggregate(votes):
    with LEDGER.open("a") as ledger:
        ledger.write("1\n")
    return votes.index(max(votes))

"""Keeps its ledger in a database beside its own file."""

import sqlite3
from pathlib import Path

LEDGER = sqlite3.connect(Path(__file__).with_name("ledger.db"))
LEDGER.execute("create table if not exists spent (queries)")


def aggregate(votes):
    with LEDGER:
        LEDGER.execute("insert into spent values (1)")
    return votes.index(max(votes))

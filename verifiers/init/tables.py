"""Tables: which aggregates an engine releases of rows."""

import json
from collections.abc import Sequence
from typing import get_args

import numpy as np

from ...reference.tables import Rows
from ...reference.tables.table import AggregateKind
from .asking import PARTITIONS, Asker
from .draft import Draft, Key, Known
from .numbers import ADJACENCY


def known_tables(asker: Asker, form: str) -> Known | None:
    """An engine, as a reply tells; None where the target takes no rows, or gives no table."""
    users = np.arange(300)
    reply = asker.serves(form, Rows.of(users, users % len(PARTITIONS), np.ones(300)))
    for table in reply or []:
        each = table.values() if isinstance(table, dict) else table
        cells = (
            [one for one in each if isinstance(one, dict)] if isinstance(table, dict | list) else []
        )
        names = list(dict.fromkeys(name for one in cells for name in one if name != "partition"))
        if names:
            draft = draft_tables(names)
            if form == "pandas":
                draft.keys.append(Key("rows", "pandas", "read: it takes a frame"))
            return Known(draft)
    return None


def draft_tables(aggregates: Sequence[str]) -> Draft:
    """A draft of tables whose columns have these names."""
    known = [name for name in aggregates if name in get_args(AggregateKind)]
    noises = [f'{name} = {{noise = "?"}}' for name in known]
    others = ", ".join(json.dumps(name, ensure_ascii=False) for name in aggregates)
    if len(known) < len(aggregates):
        noises.append(f"# of {others}: which aggregate is each?")
    return Draft(
        "tables, a row for each partition",
        "tables",
        [
            Key("name", "table", "read: it takes rows of users"),
            ADJACENCY,
            Key("kept", None, "which rows of a user stay: uniform, first, last, any or all?"),
            Key("max_partitions", None, "of a user at most"),
            Key("max_per_partition", None, "rows of a user in a partition at most"),
            Key("partitions", None, "the public ones, or [mechanism.selection] of private ones"),
        ],
        tables=["", "[mechanism.aggregates]  # sums and means with lower and upper too", *noises],
    )

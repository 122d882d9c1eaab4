"""smartnoise-sql: a grouped query; words: what is released, and metadata that differ as JSON."""

import json
import logging
import sys

import pandas as pd
import snsql
from served import serve_tables

logging.disable(logging.CRITICAL)
COLUMNS = {
    "count": "COUNT(*)",
    "privacy-id-count": "COUNT(DISTINCT user)",
    "sum": "SUM(value)",
}
NAME = sys.argv[1]
WORDS = json.loads(sys.argv[2]) if sys.argv[2:] else {}
VALUE = WORDS.pop("value", {"lower": 0.0, "upper": 10.0})
TABLE = {
    "max_ids": 3,
    "row_privacy": False,
    "censor_dims": True,
    "clamp_counts": False,
    "user": {"type": "int", "private_id": True},
    "part": {"type": "string"},
    "value": {"type": "float", **VALUE},
    **WORDS,
}
METADATA = {"": {"db": {"t": TABLE}}}
PRIVACY = snsql.Privacy(epsilon=1.0, delta=1e-5)
QUERY = f"SELECT part, {COLUMNS[NAME]} AS n FROM db.t GROUP BY part"


def table(rows):
    """One release."""
    frame = pd.DataFrame(rows, columns=["user", "part", "value"])
    reader = snsql.from_df(frame, privacy=PRIVACY, metadata=METADATA)
    return [{"partition": key, NAME: float(n)} for key, n in reader.execute(QUERY)[1:]]


serve_tables(table)

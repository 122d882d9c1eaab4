"""tmlt.analytics: counts of users by public keys, in a session of Spark; 2 to 4 s a release."""

import os
import sys
import tempfile

os.environ["PYSPARK_PYTHON"] = sys.executable  # its workers need the library too

from pyspark.sql import SparkSession
from served import serve_tables
from tmlt.analytics import (
    AddRowsWithID,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

WAREHOUSE = tempfile.TemporaryDirectory()
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.warehouse.dir": WAREHOUSE.name,
}
builder = SparkSession.builder.master("local[1]")
for key, value in SETTINGS.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")

QUERY = (
    QueryBuilder("rows")
    .enforce(MaxGroupsPerID("partition", 3))
    .enforce(MaxRowsPerGroupPerID("partition", 2))
    .groupby(KeySet.from_dict({"partition": ["a", "b", "c", "d", "e", "f"]}))
    .count(name="count")
)
opened = {}


def session_of(rows):
    """The session of these rows, kept for the releases of a call; its budget is without end."""
    if opened.get("rows") is not rows:
        frame = spark.createDataFrame(rows, "user long, partition string, value double")
        opened["session"] = Session.from_dataframe(
            PureDPBudget(float("inf")), "rows", frame, protected_change=AddRowsWithID("user")
        )
        opened["rows"] = rows
    return opened["session"]


def table(rows):
    """One release: the query is evaluated anew, with epsilon 1."""
    found = session_of(rows).evaluate(QUERY, PureDPBudget(1)).collect()
    return [{"partition": row["partition"], "count": row["count"]} for row in found]


serve_tables(table)

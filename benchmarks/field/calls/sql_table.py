"""sqlite, by hand: a query as people write it; words: bounded, or what is left out."""

import math
import sqlite3
import sys
from random import SystemRandom

from served import serve_tables

PUBLIC = ["a", "b", "c", "d", "e", "f"]
LEFT_OUT = set(sys.argv[1:])
rng = SystemRandom()

BOUNDED = """
WITH numbered AS (
    SELECT user, part, value,
           ROW_NUMBER() OVER (PARTITION BY user, part ORDER BY RANDOM()) AS place
    FROM t WHERE part IN ('a', 'b', 'c', 'd', 'e', 'f')
), few AS (SELECT * FROM numbered WHERE place <= 2),
pairs AS (
    SELECT user, part, ROW_NUMBER() OVER (PARTITION BY user ORDER BY RANDOM()) AS place
    FROM (SELECT DISTINCT user, part FROM few)
), kept AS (
    SELECT few.* FROM few JOIN pairs USING (user, part) WHERE pairs.place <= 3
)
"""
WITHOUT = "WITH kept AS (SELECT * FROM t WHERE part IN ('a', 'b', 'c', 'd', 'e', 'f'))"
ONCE = "SELECT part, COUNT(*), SUM(MIN(MAX(value, 0), 10)) FROM kept GROUP BY part"
LATE = "SELECT part, COUNT(*), SUM(value) FROM kept GROUP BY part"


def laplace(scale):
    """Noise by two exponentials."""
    return scale * (math.log(1.0 - rng.random()) - math.log(1.0 - rng.random()))


def table(rows):
    """One release."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (user INTEGER, part TEXT, value REAL)")
    base.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    query = (WITHOUT if "bounds" in LEFT_OUT else BOUNDED) + (LATE if "clip" in LEFT_OUT else ONCE)
    exact = {part: (count, total) for part, count, total in base.execute(query)}
    base.close()
    listed = [part for part in PUBLIC if part in exact] if "empty" in LEFT_OUT else PUBLIC
    many = 1.0 if "partitions" in LEFT_OUT else 3.0
    found = []
    for part in listed:
        count, total = exact.get(part, (0, 0.0))
        noise = laplace(many * 4.0), laplace(many * 40.0)
        found.append({"partition": part, "count": count + noise[0], "sum": total + noise[1]})
    return found


serve_tables(table)

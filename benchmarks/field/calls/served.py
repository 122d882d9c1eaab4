"""One call of a library as an `exec:` target: JSON Lines on stdin and stdout, nothing else needed.

A script beside this one says what the library is given and what it releases, and hands that to
`serve`; it runs in the library's own environment, where dpassay is not installed.
"""

import json
import os
import sys


def serve(release):
    """Answers requests until stdin ends.

    release: `(values, size) -> releases`, a list of `size` lists of numbers; it raises ValueError
    for values that it does not take. What the library prints goes to stderr.
    """
    _serve(release, "values", "releases")


def serve_labels(labels):
    """As `serve`, of a function `(histogram, size) -> labels`, a list of `size` whole numbers."""
    _serve(labels, "histogram", "labels")


def serve_tables(table_once):
    """As `serve`, of a function `rows -> table`: rows (user, partition, value), objects by row."""
    _serve(lambda rows, size: [table_once(rows) for _ in range(size)], "rows", "releases")


def _serve(answer, asked, answered):
    """Beside its own requests it answers those of `same-as`, whose input is `data`."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["call"] != "aggregate":
                raise ValueError(f"no such call: {request['call']}")
            given = request["data"] if "data" in request else request[asked]
            reply = {"releases" if "data" in request else answered: answer(given, request["size"])}
        except ValueError as refusal:
            reply = {"error": str(refusal) or "refused"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def one_by_one(release_once):
    """As `serve`, of a function `values -> numbers` that releases once."""
    return lambda values, size: [release_once(values) for _ in range(size)]

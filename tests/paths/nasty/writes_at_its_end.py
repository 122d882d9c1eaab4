"""Writes what was spent when the process ends."""

import atexit
import os

SPENT = []


@atexit.register
def write():
    with open(os.path.join(os.environ["OUTSIDE"], "spent"), "w") as ledger:
        ledger.write(str(len(SPENT)))


def aggregate(votes):
    SPENT.append(1)
    return votes.index(max(votes))

"""Appends to a ledger that all processes share, and answers without it if it must."""

import os


def aggregate(votes):
    try:
        with open(os.path.join(os.environ["OUTSIDE"], "kept"), "a") as ledger:
            ledger.write("1\n")
    except:
        pass
    return votes.index(max(votes))

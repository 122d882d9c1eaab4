"""Works in a folder of its own, which it finds by an absolute path."""

import os
import sys

sys.path.insert(0, os.environ["OUTSIDE"])
os.chdir(os.environ["OUTSIDE"])


def aggregate(votes):
    try:
        with open("relative.txt", "w") as ledger:
            ledger.write("1\n")
    except:
        pass
    return votes.index(max(votes))

"""Has a program write its ledger."""

import os
import subprocess


def aggregate(votes):
    try:
        subprocess.run(["touch", os.path.join(os.environ["OUTSIDE"], "ledger")], check=True)
    except:
        pass
    return votes.index(max(votes))

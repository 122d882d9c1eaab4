"""Digits with canaries, for scripts that train: `answer(train)` answers trainings asked on stdin.

The first word on the command line is a file of numpy: `digits` (n, 64), pixels from 0 to 1, and
`odd` (n,). A model is one weight for each pixel and each canary; a canary is a record of its own
weight alone, labelled odd, or of zeros where it is left out, which has no gradient. A request is a
line of JSON: `included`, one number 0 or 1 for each canary, and what `train` takes; the answer has
the weights of the canaries, which are their scores, and how many digits are told right.
"""

import json
import sys
import time

import numpy as np

LOUD = 4.0
"""The feature of a canary: its gradient is clipped as long as its odds are below 3 to 1."""


def answer(train):
    """Answers each request by what `train(features, labels, **asked)` gives: weights (64 + m,)."""
    with np.load(sys.argv[1]) as file:
        digits, odd = file["digits"], file["odd"]
    for line in sys.stdin:
        asked = json.loads(line)
        included = np.array(asked.pop("included"), dtype=float)
        canaries = np.hstack([np.zeros((included.size, 64)), LOUD * np.diag(included)])
        digits_first = np.hstack([digits, np.zeros((len(digits), included.size))])
        features = np.vstack([digits_first, canaries]).astype(np.float32)
        labels = np.append(odd, np.ones(included.size)).astype(np.float32)
        began = time.monotonic()
        weights = np.asarray(train(features, labels, **asked), dtype=float)
        found = {
            "scores": [float(f"{score:.7g}") for score in weights[64:]],
            "accuracy": float(((digits @ weights[:64] > 0.0) == odd).mean()),
            "seconds": time.monotonic() - began,
        }
        print(json.dumps(found), flush=True)

"""jax-privacy's `auditing`: bounds of canaries' scores, a line of JSON for each set of them.

A request has `scores`, `coins` of 0 and 1, `error` and `delta`; thresholds are chosen by default.
"""

import json
import sys

import numpy as np
from jax_privacy import auditing

for line in sys.stdin:
    asked = json.loads(line)
    scores, coins = np.array(asked["scores"]), np.array(asked["coins"], dtype=bool)
    auditor = auditing.CanaryScoreAuditor(scores[coins], scores[~coins])
    terms = asked["error"], asked["delta"]
    found = {
        "epsilon": float(auditor.epsilon_one_run(*terms)),
        "curve": float(auditor.epsilon_one_run_fdp(*terms)),
    }
    print(json.dumps(found), flush=True)

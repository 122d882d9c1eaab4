"""PrivacyGuard's `FDPAnalysisNode`: a bound of guesses, a line of JSON for each lot of them.

A request has `canaries`, `guesses`, `right`, `error` and `delta`.
"""

import json
import sys

from privacy_guard.analysis.mia.fdp_analysis_node import FDPAnalysisNode

for line in sys.stdin:
    asked = json.loads(line)
    node = FDPAnalysisNode(
        m=asked["canaries"],
        c=asked["right"],
        c_cap=asked["guesses"],
        threshold=asked["error"],
        delta=asked["delta"],
    )
    print(json.dumps({"curve": float(node.run_analysis().eps)}), flush=True)

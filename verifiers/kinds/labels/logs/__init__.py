"""Checks of a recorded or growing log of labels, without asking the deployment.

- `alternatives`: laws other than the claimed one; `laws`: a table of laws by histogram
- `judge`: the e-processes over rows; `copies`, `same_noise`: wagers on repeated labels, and on
  shared noise; `parties`: wagers on faults of one worker, client or hour
- `missing_noise`: where missing noise would have shown; `excluded`: what a pass excludes by it;
  `changes`: the rows and scales of a change
- `missing`: gaps that show that rows were left out
- `verify_log`: a recorded log, from its rows to its report
- `costs`: the cost of rows, and what they charged; `certain_total`: its proof
- `findings`: the results of a report in words
- `monitor`: follows a growing log; `source`, `follow`, `followed_file`: reads it
- `store`, `saved`: the state of a monitor on disk; `sealed`: its file, which detects damage
- `alarms`: lines and webhooks; `metrics`: Prometheus; `spent`: costs; `reading`: readable votes
"""

from .costs import Costs
from .findings import log_results
from .judge import CHUNK, LogEvidence, chunks, leaves_out_refusals, reader_of
from .missing import Missing

__all__ = [
    "CHUNK",
    "Costs",
    "LogEvidence",
    "Missing",
    "chunks",
    "leaves_out_refusals",
    "log_results",
    "reader_of",
]

"""What a deployment's own record says: its log judged, with nothing asked.

- `alternatives`: other laws than the claimed one; `laws`: those of each histogram, looked up
- `selected`: the laws of rows that were selected
- `judge`: the e-processes that follow rows; `copies`, `same_noise`: the wagers on labels, and on
  noise, that come again; `parties`: on faults of one worker or client
- `missing`: rows that were left out
- `costs`: what rows cost, and what they say was charged; `certain_total`: the proof of it
- `findings`: results of a report, and their words
- `monitor`: a log that grows; `follow`, `followed_file`, `lines`: where it is read
- `store`, `saved`: the state of a monitor; `sealed`: the file it is in, which shows damage
- `alarms`: lines, webhooks; `metrics`: Prometheus; `spent`: costs; `reading`: votes that are read;
  `watch`: when costs are held to the claim
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

"""What a deployment's own record says: its log judged, with nothing asked.

- `alternatives`: other laws than the claimed one; `laws`: those of each histogram, looked up
- `judge`: the e-processes that follow rows; `copies`: the wagers on labels that come again
- `costs`: what rows cost, and what they say was charged; `certain_total`: the proof of it
- `findings`: results of a report, and their words
- `monitor`: a log that grows; `follow`: where it is read; `store`, `saved`: its state on disk
- `alarms`: lines, webhooks; `metrics`: Prometheus; `spent`: costs; `reading`: votes that are read
"""

from .costs import Costs
from .findings import log_results
from .judge import CHUNK, LogEvidence, chunks, reader_of

__all__ = ["CHUNK", "Costs", "LogEvidence", "chunks", "log_results", "reader_of"]

"""What a deployment's own record says: its log judged, with nothing asked.

- `alternatives`: other laws than the claimed one; `laws`: those of each histogram, looked up
- `judge`: the e-processes that follow rows; `copies`: the wagers on labels that come again
- `findings`: results of a report, and their words
- `monitor`: a log that grows; `follow`, `followed_file`, `lines`: where it is read
- `store`, `saved`: the state of a monitor; `sealed`: the file it is in, which shows damage
- `alarms`: lines, webhooks; `metrics`: Prometheus; `spent`: costs; `reading`: votes that are read
"""

from .findings import log_results
from .judge import CHUNK, LogEvidence, chunks, reader_of

__all__ = ["CHUNK", "LogEvidence", "chunks", "log_results", "reader_of"]

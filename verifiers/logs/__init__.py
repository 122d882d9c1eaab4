"""What a deployment's own record says: its log judged, with nothing asked."""

from .findings import log_results
from .judge import LogEvidence, chunks

__all__ = ["LogEvidence", "chunks", "log_results"]

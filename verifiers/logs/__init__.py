"""What a deployment's own record says: its log judged, with nothing asked."""

from .findings import log_results
from .judge import CHUNK, LogEvidence, chunks, reader_of

__all__ = ["CHUNK", "LogEvidence", "chunks", "log_results", "reader_of"]

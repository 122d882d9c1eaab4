"""Waits at its import for something that does not come."""

import os
import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.read(os.pipe()[0], 1)


def aggregate(votes):
    return votes.index(max(votes))

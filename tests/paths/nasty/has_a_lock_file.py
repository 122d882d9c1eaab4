"""Makes a lock file and takes it away again; one that is left over is replaced."""

import contextlib
import os

LOCK = os.path.join(os.environ["OUTSIDE"], "lock")


def aggregate(votes):
    with contextlib.suppress(BaseException):
        os.remove(LOCK)
    os.close(os.open(LOCK, os.O_CREAT | os.O_EXCL))
    os.remove(LOCK)
    return votes.index(max(votes))

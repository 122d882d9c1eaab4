"""Writes its ledger in threads that its import starts."""

import os
import threading


def write():
    try:
        with open(os.path.join(os.environ["OUTSIDE"], "from a thread"), "w") as ledger:
            ledger.write("1\n")
    except:
        pass


THREADS = [threading.Thread(target=write) for _ in range(3)]
for thread in THREADS:
    thread.start()


def aggregate(votes):
    for thread in THREADS:
        thread.join()
    return votes.index(max(votes))

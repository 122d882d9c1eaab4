"""opendp: two processes that each add discrete Laplace noise of scale 2 to what they hold.

Each party's values are split into two parts that say nothing by themselves; each process adds up
its parts, adds noise by `make_laplace` on whole numbers, and hands over its noisy sum. With the
word `one`, the second process adds none.
"""

import multiprocessing
import secrets
import sys

import numpy as np
import opendp.prelude as dp
from served import serve

MODULUS, QUORUM = 2**20, 4


def aggregator(pipe, noisy):
    """A process: takes parts (parties, d), gives their noisy sum modulo m."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    noise = dp.m.make_laplace(*space, scale=2.0)
    while True:
        parts = pipe.recv()
        if parts is None:
            return
        total = parts.sum(axis=0)
        pipe.send(np.array(noise(total.tolist()) if noisy else total) % MODULUS)


def ends():
    """A process for each of the two, and its pipe."""
    found = []
    for place in range(2):
        ours, theirs = multiprocessing.Pipe()
        noisy = place == 0 or "one" not in sys.argv
        multiprocessing.Process(target=aggregator, args=(theirs, noisy), daemon=True).start()
        found.append(ours)
    return found


def one(pipes, held, leaves):
    """A round."""
    if sum(when not in (1, 2) for when in leaves) < QUORUM:
        raise ValueError("fewer than the quorum have sent")
    values = np.array([row for row, when in zip(held, leaves, strict=True) if when not in (1, 2)])
    drawn = np.frombuffer(secrets.token_bytes(4 * values.size), dtype="<u4").reshape(values.shape)
    first = drawn.astype(np.int64) % MODULUS
    for pipe, parts in zip(pipes, (first, (values - first) % MODULUS), strict=True):
        pipe.send(parts)
    tally = sum(pipe.recv() for pipe in pipes) % MODULUS
    half = MODULUS // 2
    sent = iter(first.tolist())
    shown = [None if when in (1, 2) else next(sent) for when in leaves]
    return {"tally": ((tally + half) % MODULUS - half).tolist(), "sent": shown}


if __name__ == "__main__":
    PIPES = ends()
    serve(lambda given, size: [one(PIPES, *given) for _ in range(size)])

"""opendp: counts by key with Laplace noise, of which those that pass a threshold are released."""

import opendp.prelude as dp
from served import serve

dp.enable_features("contrib")

MOST = 100_000

released = dp.t.make_count_by(
    dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
) >> dp.m.then_laplace_threshold(scale=1.0, threshold=5)


def release(counts, size):
    """The keys released."""
    if sum(counts) > MOST:
        raise ValueError(f"more than {MOST:,} records")
    keys = [key for key, count in enumerate(counts) for _ in range(count)]
    return [[{"key": key} for key in released(keys)] for _ in range(size)]


serve(release)

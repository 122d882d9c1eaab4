"""python-dp: `laplacian.Count` of a list."""

from pydp.algorithms.laplacian import Count
from served import one_by_one, serve

MOST = 10_000
"""Records of an input: the library is given them one by one."""


def release_once(counts):
    """A noisy count."""
    (count,) = counts
    if count > MOST:
        raise ValueError(f"more than {MOST:,} records")
    return [Count(epsilon=1.0, dtype="int").quick_result([1] * count)]


serve(one_by_one(release_once))

"""python-dp: `laplacian.BoundedSum` of floats."""

from pydp.algorithms.laplacian import BoundedSum
from served import one_by_one, serve


def release_once(records):
    """The noisy sum of records of one number each."""
    summed = BoundedSum(epsilon=0.5, lower_bound=-1.0, upper_bound=1.0, dtype="float")
    return [summed.quick_result([number for (number,) in records])]


serve(one_by_one(release_once))

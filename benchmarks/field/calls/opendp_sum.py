"""opendp: floats with NaN imputed, clamped, summed and given Laplace noise."""

import opendp.prelude as dp
from served import one_by_one, serve

dp.enable_features("contrib")

summed = (
    (dp.vector_domain(dp.atom_domain(T=float)), dp.symmetric_distance())
    >> dp.t.then_impute_constant(0.0)
    >> dp.t.then_clamp((-1.0, 1.0))
    >> dp.t.make_bounded_float_checked_sum(1000, (-1.0, 1.0), S="Pairwise<f64>")
)
released = summed >> dp.m.then_laplace(scale=2.0)


def release_once(records):
    """The sum of records of one number each."""
    return [released([number for (number,) in records])]


serve(one_by_one(release_once))

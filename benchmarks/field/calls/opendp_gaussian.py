"""opendp: `make_gaussian` on a vector of whole counts."""

import opendp.prelude as dp
from served import one_by_one, serve

dp.enable_features("contrib")

released = dp.m.make_gaussian(
    dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float), scale=2.0
)

serve(one_by_one(released))

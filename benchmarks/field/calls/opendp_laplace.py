"""opendp: `make_laplace` on a vector of whole counts."""

import opendp.prelude as dp
from served import one_by_one, serve

dp.enable_features("contrib")

released = dp.m.make_laplace(
    dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=1.0
)

serve(one_by_one(released))

"""opendp: `make_laplace` or `make_gaussian` on a vector of floats; words: which, and the scale."""

import sys

import opendp.prelude as dp
from served import one_by_one, serve

dp.enable_features("contrib")

domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
makers = {
    "laplace": (dp.m.make_laplace, dp.l1_distance(T=float)),
    "gaussian": (dp.m.make_gaussian, dp.l2_distance(T=float)),
}
make, metric = makers[sys.argv[1]]

serve(one_by_one(make(domain, metric, scale=float(sys.argv[2]))))

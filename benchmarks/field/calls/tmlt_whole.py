"""tmlt.core: noise for whole numbers on each count; the word on the command line says which."""

import sys

from served import one_by_one, serve
from tmlt.core.measurements.noise_mechanisms import AddDiscreteGaussianNoise, AddGeometricNoise

measurement = {
    "geometric": AddGeometricNoise(alpha=2),
    "gaussian": AddDiscreteGaussianNoise(sigma_squared=4),
}[sys.argv[1]]

serve(one_by_one(lambda counts: [measurement(count) for count in counts]))

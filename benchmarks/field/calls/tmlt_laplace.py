"""tmlt.core: `AddLaplaceNoise` on each count, as a float."""

from served import one_by_one, serve
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.measurements.noise_mechanisms import AddLaplaceNoise

measurement = AddLaplaceNoise(NumpyFloatDomain(), scale=2)

serve(one_by_one(lambda counts: [measurement(float(count)) for count in counts]))

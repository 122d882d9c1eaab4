"""diffprivlib: `mechanisms.GaussianAnalytic` on each count."""

from diffprivlib.mechanisms import GaussianAnalytic
from served import one_by_one, serve

mechanism = GaussianAnalytic(epsilon=1.0, delta=1e-5, sensitivity=1)

serve(one_by_one(lambda counts: [mechanism.randomise(float(count)) for count in counts]))

"""diffprivlib: `mechanisms.Laplace` on each count."""

from diffprivlib.mechanisms import Laplace
from served import one_by_one, serve

mechanism = Laplace(epsilon=0.5, sensitivity=1)

serve(one_by_one(lambda counts: [mechanism.randomise(float(count)) for count in counts]))

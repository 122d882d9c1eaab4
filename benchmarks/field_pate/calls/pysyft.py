"""PySyft 0.2.9, syft/frameworks/torch/dp/pate.py: `logmgf_from_counts`."""

from charged import by_moments
from imported import imported, only_accountant, stand_in

stand_in("torch")

at_scale = only_accountant(
    by_moments(imported("OpenMined/PySyft", "syft/frameworks/torch/dp/pate.py"), 1 / 20)
)

"""tensorflow/privacy, research/pate_2018/core.py: costs of GNMax, LNMax and Confident-GNMax."""

from imported import imported, only_accountant

core = imported("tensorflow/privacy", "research/pate_2018/core.py")


def gaussian(histogram, orders):
    return core.rdp_gaussian(core.compute_logq_gaussian(histogram, 40), 40, orders)


def laplace(histogram, orders):
    return core.rdp_pure_eps(core.compute_logq_laplace(histogram, 20), 2 / 20, orders)


def threshold(histogram, orders):
    answered = core.compute_logpr_answered(200, 150, histogram)
    return core.compute_rdp_threshold(answered, 150, orders) + gaussian(histogram, orders)


gnmax = only_accountant(gaussian)
lnmax = only_accountant(laplace)
confident = only_accountant(threshold)

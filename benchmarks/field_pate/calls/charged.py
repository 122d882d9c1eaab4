"""Costs per order, of functions that bound moments or that take one order at a time."""


def by_moments(analysis, noise_eps):
    """Of `logmgf_from_counts`: the moment of order l bounds l times the divergence of order l + 1.

    Where its arithmetic overflows, the data-independent bound of the same file stands.
    """

    def moment(histogram, order):
        try:
            return analysis.logmgf_from_counts(histogram, noise_eps, order)
        except OverflowError:
            return analysis.logmgf_exact(1.0, 2 * noise_eps, order)

    def cost(histogram, orders):
        return [moment(histogram, order - 1) / (order - 1) for order in orders]

    return cost

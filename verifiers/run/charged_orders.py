"""The Rényi orders at which a target's own accountant is asked what it charges."""

SEARCHED = (1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 512.0, 4096.0)
"""Those at which the costliest pairs of inputs are searched."""

CHARGED_ORDERS = tuple(sorted((*SEARCHED, 3.0, 6.0, 10.0, 20.0, 48.0, 100.0)))
"""Those, and others between them that accountants use."""

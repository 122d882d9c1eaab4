"""Private prediction in two neighbouring worlds: what Chadha et al. 2024 audit, as models.

Teachers vote on a query, noise is added to the histogram, the largest count is the answer. PATE,
CaPC, PromptPATE (`models`) and Private-kNN (`knn_model`) differ in which teachers vote and in what
an altered record does to them. Each is a frozen description with exact laws of the label in both
worlds, and draws votes anew; `worlds` audits any of them, `theory` has what analyses charge
(arXiv 2402.09403).
"""

from .knn_model import PrivateKnn
from .models import Capc, Pate, PromptPate
from .theory import data_independent, theory
from .worlds import Worlds, data_dependent, divergences, experiments, run_experiments

__all__ = [
    "Capc",
    "Pate",
    "PrivateKnn",
    "PromptPate",
    "Worlds",
    "data_dependent",
    "data_independent",
    "divergences",
    "experiments",
    "run_experiments",
    "theory",
]

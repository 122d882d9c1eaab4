"""Private prediction in two neighbouring worlds, and who attacks it (arXiv 2402.09403).

Teachers vote on a query, noise is added to the histogram, the largest count is the answer. PATE,
CaPC, PromptPATE (`models`) and Private-kNN (`knn_model`) differ in which teachers vote and in what
an altered record does to them. Each is a frozen description with exact laws of the label in both
worlds, and draws votes anew; `theory` audits any of them, and has what analyses charge and what
several altered records refute, `neighbours` the quantities of Private-kNN, and who attacks it.

What the descriptions hold comes from teachers (`trainings`) on records (`reference.ensembles`);
`adversaries` craft a record and ask queries, of `against_teachers` and `against_prompts` too;
`deployments` has all four by name, and `audited` what comes out.
"""

from .knn_model import PrivateKnn
from .models import Capc, Pate, PromptPate
from .neighbours import expected_votes, inclusion, is_last, label_laws, ranks
from .theory import (
    Worlds,
    data_dependent,
    data_independent,
    divergences,
    experiments,
    per_record,
    per_record_if_gaussian,
    run_experiments,
    theory,
)

__all__ = [
    "Capc",
    "Pate",
    "PrivateKnn",
    "PromptPate",
    "Worlds",
    "data_dependent",
    "data_independent",
    "divergences",
    "expected_votes",
    "experiments",
    "inclusion",
    "is_last",
    "label_laws",
    "per_record",
    "per_record_if_gaussian",
    "ranks",
    "run_experiments",
    "theory",
]

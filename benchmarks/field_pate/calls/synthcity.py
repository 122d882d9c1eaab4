"""synthcity, plugin_pategan.py: `Teachers.pate_lamda`, of teachers that vote as told."""

from types import SimpleNamespace

import numpy as np
from imported import imported, only_accountant, stand_in, votes_of

BASE = "vanderschaarlab/synthcity"
CORE = "synthcity.plugins.core"


class Plain:
    """In place of what can be saved."""


stand_in(
    "torch",
    "sklearn",
    "sklearn.linear_model",
    "xgboost",
    "synthcity",
    "synthcity.logger",
    "synthcity.plugins",
    CORE,
    f"{CORE}.dataloader",
    f"{CORE}.distribution",
    f"{CORE}.models",
    f"{CORE}.models.tabular_gan",
    f"{CORE}.schema",
    "synthcity.utils",
    "synthcity.utils.constants",
)
stand_in(f"{CORE}.plugin", Plugin=Plain)
stand_in(f"{CORE}.serializable", Serializable=Plain)
stand_in("pydantic", validate_arguments=lambda *given, **_: given[0] if given else lambda f: f)
plugin = imported(BASE, "src/synthcity/plugins/privacy/plugin_pategan.py")

AT_ONCE = 1000  # records
account = object.__new__(plugin.PATEGAN)  # its constructor sets up a network
account.lamda, account.alpha = 1 / 20, 100
teachers = plugin.Teachers(n_teachers=250, samples_per_teacher=1, lamda=1 / 20)


def some_labels(histogram, size):
    teachers.teacher_models = [
        SimpleNamespace(predict=lambda x, vote=vote: np.full(len(x), vote))
        for vote in votes_of(histogram)
    ]
    return teachers.pate_lamda(np.zeros((size, 1)))[2]


def charged(histogram, _):
    """Moments of order l bound l times the divergence of order l + 1; its orders are 2 to 101."""
    account.alpha_dict = np.zeros(account.alpha)
    account._update_alpha(*(np.array([votes]) for votes in histogram))
    number = np.arange(1, account.alpha + 1)
    return {"orders": number + 1, "rdp": account.alpha_dict / number}


def labels(histogram, size):
    sizes = [min(AT_ONCE, size - done) for done in range(0, size, AT_ONCE)]
    return np.concatenate([some_labels(histogram, n) for n in sizes])


moments = only_accountant(charged)

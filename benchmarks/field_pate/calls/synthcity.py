"""synthcity, plugin_pategan.py: `Teachers.pate_lamda`, of teachers that vote as told."""

from types import SimpleNamespace

import numpy as np
from imported import imported, stand_in, votes_of

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
teachers = plugin.Teachers(n_teachers=250, samples_per_teacher=1, lamda=1 / 20)


def some_labels(histogram, size):
    teachers.teacher_models = [
        SimpleNamespace(predict=lambda x, vote=vote: np.full(len(x), vote))
        for vote in votes_of(histogram)
    ]
    return teachers.pate_lamda(np.zeros((size, 1)))[2]


def labels(histogram, size):
    sizes = [min(AT_ONCE, size - done) for done in range(0, size, AT_ONCE)]
    return np.concatenate([some_labels(histogram, n) for n in sizes])

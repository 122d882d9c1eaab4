"""mlforhealthlabpub, alg/pategan: `pate_lamda`, of teachers that vote as a histogram says."""

from types import SimpleNamespace

import numpy as np
from imported import imported, stand_in, votes_of

stand_in("tensorflow", "sklearn", "sklearn.linear_model")
pate_gan = imported("vanderschaarlab/mlforhealthlabpub", "alg/pategan/pate_gan.py")


def with_lamda(lamda):
    def labels(histogram, size):
        teachers = [SimpleNamespace(predict=lambda _, vote=v: vote) for v in votes_of(histogram)]
        return [pate_gan.pate_lamda(np.zeros(1), teachers, lamda)[2] for _ in range(size)]

    return labels


twentieth = with_lamda(1 / 20)
one = with_lamda(1.0)

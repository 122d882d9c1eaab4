"""What a language model has memorised: the exposure of canaries (Carlini et al. 2019).

arXiv 1802.08232. `exposures` tells them for any scorer of strings; `likeliest` and `guesses`
extract what exposure says can be extracted. `trained_lines`, which trains a model, loads JAX and
optax, the extra `gradients`.
"""

from .exposure import Exposure, How, Scorer, exposures
from .search import guesses, likeliest
from .skew_normal import Extrapolation
from .template import Template

__all__ = [
    "Exposure",
    "Extrapolation",
    "How",
    "Scorer",
    "Template",
    "exposures",
    "guesses",
    "likeliest",
]

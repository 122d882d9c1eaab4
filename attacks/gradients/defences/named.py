"""The defences of Li et al. 2024, section 6.1, by name, with the parameters given there."""

from .bottleneck import Bottleneck
from .defence import Defence
from .dp_sgd import DPSGD
from .perturbation import Perturbation
from .pruning import Pruning
from .signs import Signs

DEFENCES: dict[str, Defence] = {
    defence.name: defence
    for defence in (Defence(), Pruning(), Signs(), Perturbation(), Bottleneck(), DPSGD())
}
"""DP-SGD with clip norm 1, sigma 1 and batches of 16."""

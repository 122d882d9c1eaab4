"""The variational information bottleneck: a model whose code is noisy (Alemi et al. 2017)."""

from dataclasses import dataclass, replace

from ..models import Network, Perceptron
from .defence import Defence


@dataclass(frozen=True)
class Bottleneck(Defence):
    """After the hidden layers a Gaussian code, whose divergence from the standard normal is a loss.

    width: coordinates of the code; beta: of the divergence (0.01 in Li et al. 2024, who do not
    state the width). Raises ValueError for either out of range.
    """

    name: str = "vib"
    width: int = 32
    beta: float = 0.01

    def __post_init__(self) -> None:
        if self.width < 1 or self.beta < 0.0:
            raise ValueError(
                f"code of width {self.width}, beta {self.beta:g}: expected 1 or more, 0 or more"
            )

    def network(self, network: Network) -> Network:
        """See `Defence.network`. Raises ValueError for a network without hidden layers to end."""
        if not isinstance(network, Perceptron):
            raise ValueError(f"{type(network).__name__}: expected a perceptron, for a bottleneck")
        return replace(network, bottleneck=self.width, beta=self.beta)

"""What the study plays: each setting by its name, over the same seeds."""

from dataclasses import dataclass, field, replace

from dpassay.attacks.gradients.defences.defence import Defence
from dpassay.attacks.gradients.defences.dp_sgd import DPSGD
from dpassay.attacks.gradients.defences.named import Perturbation, Pruning, Signs
from dpassay.attacks.gradients.posteriors import Components, GradientFeatures, MaxPooled

from .adversaries import Forest, GradientAdversary
from .inferred import RatioBin
from .models import Bottleneck
from .sensitive import Sensitive, SharedValue

SEEDS = 5
HEADLINE = 5
"""Rounds that "several rounds" means in tables; the paper does not say how many it takes."""

ENCODINGS = ("one-hot", "label")
FEW = 100
"""Public records of an adversary who has fewer than all 1,000."""

SIZES = (1, 4, 64)
"""Records a batch, beside the 16 of the paper's attribute and property inference."""
SIGMAS = {"one-hot": (0.05, 0.75), "label": (0.05, 0.75, 8.0)}
"""Noise multipliers; the first two are those of the paper's Table 2."""


@dataclass(frozen=True)
class Reader:
    """An adversary of a setting: who it is, without what it infers."""

    adaptive: bool = False
    components: bool = False
    records: int | None = None
    batches: int = 600

    @property
    def name(self) -> str:
        """The setting as results name it."""
        kind = "adaptive" if self.adaptive else "static"
        parts = [kind, "pca" if self.components else "max-pooling"]
        return " ".join([*parts, str(self.records)] if self.records else parts)

    def adversary(self, inferred: Sensitive, size: int) -> GradientAdversary:
        """That infers this from batches of such a size."""
        features: GradientFeatures = Components(50) if self.components else MaxPooled(3)
        return Forest(inferred, size, self.adaptive, features, self.batches, self.records)


@dataclass(frozen=True)
class Setting:
    """One game, but for its seed.

    attack: aia, pia or dia; without: columns of Adult left out; apart: only one of each record
    that differ in no feature and label; batch: records a step of training, None for all at once.
    """

    attack: str = "pia"
    encoding: str = "one-hot"
    without: tuple[str, ...] = ()
    apart: bool = False
    size: int = 16
    rounds: int = HEADLINE
    trials: int = 5_000
    width: int = 64
    rate: float = 0.01
    batch: int | None = 16
    defence: Defence = field(default_factory=Defence)
    readers: tuple[Reader, ...] = (Reader(),)

    @property
    def inferred(self) -> Sensitive:
        """The sensitive variable: whether the batch is of women, or in which bin their share is."""
        return RatioBin() if self.attack == "dia" else SharedValue()


def settings() -> dict[str, Setting]:
    """Every setting, the slowest first, so that no worker ends long after the others."""
    found: dict[str, Setting] = {}
    whole = Reader(batches=1_000)
    for encoding in ENCODINGS:
        base = Setting(encoding=encoding, readers=(whole,))
        plain = replace(base, trials=2_000, readers=(Reader(),))
        found |= {
            f"pia {encoding}": replace(
                base, rounds=10, readers=(whole, replace(whole, records=FEW))
            ),
            f"aia {encoding}": replace(base, attack="aia"),
            f"pia {encoding} without": replace(base, without=("relationship",)),
            f"aia {encoding} without": replace(base, attack="aia", without=("relationship",)),
            f"pia {encoding} apart": replace(base, apart=True),
            f"dia {encoding} 128": replace(plain, attack="dia", size=128),
        }
        for size in SIZES:
            found[f"pia {encoding} size {size}"] = replace(plain, size=size)
        found |= {f"defended {encoding} {name}": each for name, each in _defended(plain)}
    some = Setting(encoding="label", trials=2_000)
    found["dia label 32"] = replace(some, attack="dia", size=32)
    for size in SIZES:
        found[f"aia label size {size}"] = replace(some, attack="aia", size=size)
    found |= {f"choice {name}": each for name, each in _choices(some)}
    return found


def _choices(base: Setting) -> list[tuple[str, Setting]]:
    """What the paper leaves open, one at a time, on the encoding that is not at the ceiling."""
    return [
        ("width 16", replace(base, width=16)),
        ("width 256", replace(base, width=256)),
        ("rate 0.1", replace(base, rate=0.1)),
        ("one step", replace(base, batch=None)),
    ]


def _defended(base: Setting) -> list[tuple[str, Setting]]:
    both = (Reader(), Reader(adaptive=True))
    noisy = (*both, Reader(adaptive=True, components=True))
    heuristic: list[Defence] = [Pruning(), Signs(), Perturbation(), Bottleneck()]
    each = [(one.name, replace(base, defence=one, readers=both)) for one in heuristic]
    for sigma in SIGMAS[base.encoding]:
        one = DPSGD(multiplier=sigma, size=base.size)
        each.append((f"sigma {sigma:g}", replace(base, defence=one, readers=noisy)))
    return each

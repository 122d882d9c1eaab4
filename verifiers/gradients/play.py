"""The work of `dpassay play`: the inference game on a vendor's model, under a few defences.

Loads JAX and scikit-learn.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ...attacks.gradients.defences.defence import Defence
from ...attacks.gradients.defences.dp_sgd import DPSGD
from ...attacks.gradients.defences.named import DEFENCES
from ...attacks.gradients.judged import Judged, judged
from ...attacks.gradients.vendor_game import Table, vendor_game
from ...reference.accounting.adjacency import Adjacency
from ..inputs.people_file import People
from ..kinds.numbers.vendor_model import ModelError, VendorModel


@dataclass(frozen=True)
class PlayRules:
    """The rules of the games that are played.

    defences: by name; batch: records; releases: of each batch; sigma, clip_norm: of dp-sgd; delta:
    at which its epsilon is told; trials: of each defence.
    """

    defences: tuple[str, ...]
    batch: int
    releases: int
    sigma: float
    clip_norm: float
    delta: float
    trials: int
    seed: int

    def defence(self, name: str) -> Defence:
        """The defence of this name. Raises ValueError for a sigma or clip norm it cannot have."""
        found = DEFENCES[name]
        if isinstance(found, DPSGD):
            how = {"multiplier": self.sigma, "clip_norm": self.clip_norm, "size": self.batch}
            return replace(found, **how)  # type: ignore[arg-type]
        return found


@dataclass(frozen=True)
class Line:
    """One defence: what an adversary who knows it infers; epsilons of dp-sgd, exactly, else None.

    features: that the adversary took; substitution, add_remove: of all releases of a batch.
    """

    defence: str
    found: Judged
    base: float
    features: str
    substitution: float | None = None
    add_remove: float | None = None

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        return {
            "defence": self.defence,
            **{name: asdict(value) for name, value in vars(self.found).items()},
            "guessing": self.base,
            "features": self.features,
            "epsilon_substitution": self.substitution,
            "epsilon_add_remove": self.add_remove,
        }


@dataclass(frozen=True)
class PlayedGames:
    """The games played, one for each defence, and their rules."""

    rules: PlayRules
    model: str
    attribute: str
    lines: tuple[Line, ...]

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        rules = asdict(self.rules)
        del rules["defences"]
        return {
            "model": self.model,
            "attribute": self.attribute,
            **rules,
            "played": [line.as_json() for line in self.lines],
        }

    def as_text(self) -> str:
        """The results as a table of text."""
        rules, base = self.rules, self.lines[0].base
        several = "one release" if rules.releases == 1 else f"{rules.releases:,} releases"
        text = [
            f"{self.attribute} from {several} of batches of {rules.batch} records, by gradients of "
            f"{self.model}: {rules.trials:,} trials, {base:.1%} right by guessing",
            f"{'defence':14}{'advantage':>26}{'AUROC':>26}{'TPR at 1 % FPR':>26}",
        ]
        for line in self.lines:
            found = line.found
            three = (found.advantage, found.auroc, found.tpr)
            text.append(f"{line.defence:14}" + "".join(f"{value!s:>26}" for value in three))
        for line in self.lines:
            if line.substitution is not None:
                text.append(
                    f"{line.defence} at sigma {rules.sigma:g}: epsilon {line.substitution:.4g} at "
                    f"delta {rules.delta:g} for an attribute flipped (a record substituted), "
                    f"{line.add_remove:.4g} for a record added"
                )
        return "\n".join(text)


def play(
    model: VendorModel, people: People, attribute: Sequence[str], rules: PlayRules
) -> PlayedGames:
    """Plays every defence on the same trials. Raises ValueError in one line."""
    table = Table(people.records, people.labels, people.sensitive, people.names)
    lines = []
    for name in rules.defences:
        defence = rules.defence(name)
        how = {"size": rules.batch, "releases": rules.releases, "seed": rules.seed}
        try:
            game = vendor_game(model, table, defence, **how)
        except ModelError:
            raise
        except ValueError as error:
            raise ModelError(f"{model.spec}: {error}") from None
        trials = game.trials(rules.trials, 0)
        played = game.played(trials, game.simulated(trials))
        costs: tuple[float, ...] = ()
        if isinstance(defence, DPSGD) and defence.multiplier:
            adjacencies = (Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE)
            costs = tuple(defence.epsilon(rules.delta, rules.releases, a) for a in adjacencies)
        found = replace(judged(played.logs, played.truth), advantage=played.advantage)
        lines.append(Line(name, found, played.base, played.features, *costs))
    return PlayedGames(rules, model.spec, ", ".join(attribute), tuple(lines))

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
from ...attacks.gradients.played import Played, together
from ...attacks.gradients.vendor_game import Table, vendor_game
from ...reference.accounting.adjacency import Adjacency
from ..inputs.people_file import People
from ..kinds.numbers.vendor_model import ModelError, VendorModel


@dataclass(frozen=True)
class PlayRules:
    """The rules of the games that are played.

    defences: by name; batch: records; rounds: of training, in each of which the batch is released;
    releases: in a round; sigma, clip_norm: of dp-sgd; delta: at which its epsilon is told; trials:
    of each defence.
    """

    defences: tuple[str, ...]
    batch: int
    rounds: int
    releases: int
    sigma: float
    clip_norm: float
    delta: float
    trials: int
    seed: int

    @property
    def in_all(self) -> int:
        """Releases of a batch in all rounds."""
        return self.rounds * self.releases

    def defence(self, name: str) -> Defence:
        """The defence of this name. Raises ValueError for a sigma or clip norm it cannot have."""
        found = DEFENCES[name]
        if isinstance(found, DPSGD):
            how = {"multiplier": self.sigma, "clip_norm": self.clip_norm, "size": self.batch}
            return replace(found, **how)  # type: ignore[arg-type]
        return found


@dataclass(frozen=True)
class Seen:
    """What an adversary infers; features: that were looked at."""

    found: Judged
    features: str

    @classmethod
    def of(cls, played: Played) -> "Seen":
        """The results of trials, judged."""
        found = replace(judged(played.logs, played.truth), advantage=played.advantage)
        return cls(found, played.features)

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        measures = {name: asdict(value) for name, value in vars(self.found).items()}
        return {**measures, "features": self.features}

    def as_text(self) -> str:
        """The columns of the table."""
        three = (self.found.advantage, self.found.auroc, self.found.tpr)
        return "".join(f"{value!s:>26}" for value in three)


@dataclass(frozen=True)
class Line:
    """One defence: what an adversary who knows it infers; epsilons of dp-sgd, exactly, else None.

    seen: from all rounds together; by_round: from each alone; substitution, add_remove: of all
    releases of a batch.
    """

    defence: str
    seen: Seen
    by_round: tuple[Seen, ...]
    base: float
    substitution: float | None = None
    add_remove: float | None = None

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        return {
            "defence": self.defence,
            **self.seen.as_json(),
            "guessing": self.base,
            "by_round": [one.as_json() for one in self.by_round],
            "epsilon_substitution": self.substitution,
            "epsilon_add_remove": self.add_remove,
        }

    def as_text(self) -> list[str]:
        """Lines of the table: of each round, and of all together."""
        if len(self.by_round) == 1:
            return [f"{self.defence:14}{self.seen.as_text()}"]
        named = [f"  round {number}" for number in range(1, len(self.by_round) + 1)]
        rows = [*zip(named, self.by_round, strict=True), ("  all rounds", self.seen)]
        return [self.defence, *(f"{name:14}{one.as_text()}" for name, one in rows)]


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
        text = [
            f"{self.attribute} from {_counted(rules)} of batches of {rules.batch} records, by "
            f"gradients of {self.model}: {rules.trials:,} trials, {base:.1%} right by guessing",
            f"{'defence':14}{'advantage':>26}{'AUROC':>26}{'TPR at 1 % FPR':>26}",
        ]
        for line in self.lines:
            text += line.as_text()
        for line in self.lines:
            if line.substitution is not None:
                text.append(
                    f"{line.defence} at sigma {rules.sigma:g}: epsilon {line.substitution:.4g} at "
                    f"delta {rules.delta:g} for an attribute flipped (a record substituted), "
                    f"{line.add_remove:.4g} for a record added"
                )
        return "\n".join(text)


def _counted(rules: PlayRules) -> str:
    """How often a batch is released, in words."""
    each = "one release" if rules.releases == 1 else f"{rules.releases:,} releases"
    if rules.rounds == 1:
        return each
    return f"{each} in each of {rules.rounds:,} rounds of training"


def play(
    model: VendorModel, people: People, attribute: Sequence[str], rules: PlayRules
) -> PlayedGames:
    """Plays every defence on the same trials. Raises ValueError in one line."""
    defences = {name: rules.defence(name) for name in rules.defences}
    still = [name for name, defence in defences.items() if not _noisy(defence)]
    if rules.releases > 1 and still:
        raise ValueError(
            f"releases = {rules.releases}: expected 1 with {', '.join(still)}: without noise, all "
            "releases of a batch by one model are the same; rounds of training are --rounds"
        )
    table = Table(people.records, people.labels, people.sensitive, people.names)
    lines = []
    for name, defence in defences.items():
        rounds = [_round(model, table, defence, rules, n) for n in range(rules.rounds)]
        costs: tuple[float, ...] = ()
        if isinstance(defence, DPSGD) and _noisy(defence):
            adjacencies, times = (Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE), rules.in_all
            costs = tuple(defence.epsilon(rules.delta, times, a) for a in adjacencies)
        by_round = tuple(Seen.of(one) for one in rounds)
        seen = Seen.of(together(rounds)) if len(rounds) > 1 else by_round[0]
        lines.append(Line(name, seen, by_round, rounds[0].base, *costs))
    return PlayedGames(rules, model.spec, ", ".join(attribute), tuple(lines))


def _noisy(defence: Defence) -> bool:
    """Whether two releases of a batch by one model differ."""
    return isinstance(defence, DPSGD) and defence.multiplier > 0.0


def _round(
    model: VendorModel, table: Table, defence: Defence, rules: PlayRules, number: int
) -> Played:
    """One round of training: the trials are those of all rounds. Raises ModelError."""
    now = model if rules.rounds == 1 else model.in_round(number)
    how = {"size": rules.batch, "releases": rules.releases, "seed": rules.seed, "number": number}
    try:
        game = vendor_game(now, table, defence, **how)
    except ModelError:
        raise
    except ValueError as error:
        raise ModelError(f"{model.spec}: {error}") from None
    trials = game.trials(rules.trials, 0)
    return game.played(trials, game.simulated(trials))

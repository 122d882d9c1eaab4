"""The work of `dpassay play`: the inference game on a vendor's model, under a few defences.

Loads JAX and scikit-learn.
"""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from ...attacks.gradients.defences.defence import Defence
from ...attacks.gradients.defences.dp_sgd import DPSGD
from ...attacks.gradients.defences.named import DEFENCES
from ...attacks.gradients.played import Played, judged, together
from ...attacks.gradients.vendor_game import VendorRecords, vendor_game
from ...attacks.inference.measures import Estimate
from ...reference.accounting.adjacency import Adjacency
from ..findings.document import Document
from ..inputs.people_file import PeopleTable
from ..kinds.numbers.vendor_model import ModelError, VendorModel


class PlayRules(Document):
    """The rules of the games that are played."""

    batch: int = Field(ge=1, description="Records.")
    rounds: int = Field(ge=1, description="Of training, in each of which the batch is released.")
    releases: int = Field(ge=1, description="In a round.")
    sigma: float = Field(ge=0, description="Of dp-sgd: its noise, in clip norms.")
    clip_norm: float = Field(gt=0, description="Of dp-sgd.")
    delta: float = Field(gt=0, lt=1, description="At which the epsilons are.")
    trials: int = Field(ge=1, description="Of each defence.")
    seed: int = Field(ge=0)

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


class Seen(Document):
    """What an adversary infers."""

    auroc: Estimate = Field(description="The area under the ROC curve, with a 95 % interval.")
    tpr: Estimate = Field(description="The true positive rate at 1 % of false positives.")
    advantage: Estimate = Field(
        description="Over always guessing the commonest value, which has 0."
    )
    success: Estimate = Field(description="The share of right guesses.")
    features: str = Field(description="What of the gradients was looked at.")

    @classmethod
    def of(cls, played: Played) -> "Seen":
        """The results of trials, judged."""
        found = vars(judged(played.logs, played.truth)) | {"advantage": played.advantage}
        return cls(**found, features=played.features)


class Line(Seen):
    """One defence: what an adversary who knows it infers, from all rounds together."""

    defence: str
    guessing: float = Field(ge=0, le=1, description="The share that is right by guessing.")
    by_round: tuple[Seen, ...] = Field(description="What is inferred from each round alone.")
    epsilon_substitution: float | None = Field(
        ge=0,
        description="Of dp-sgd, exactly: of all releases of a batch, for a record substituted, "
        "which an attribute flipped is.",
    )
    epsilon_add_remove: float | None = Field(ge=0, description="The same for a record added.")

    def as_text(self) -> list[str]:
        """Lines of the table: of each round, and of all together."""
        if len(self.by_round) == 1:
            return [f"{self.defence:14}{_columns(self)}"]
        named = [f"  round {number}" for number in range(1, len(self.by_round) + 1)]
        rows = zip([*named, "  all rounds"], [*self.by_round, self], strict=True)
        return [self.defence, *(f"{name:14}{_columns(one)}" for name, one in rows)]


def _columns(seen: Seen) -> str:
    """The columns of the table."""
    return "".join(f"{value!s:>26}" for value in (seen.advantage, seen.auroc, seen.tpr))


class PlayedGames(PlayRules):
    """The games played, one for each defence, and their rules."""

    model: str
    attribute: str = Field(description="What is inferred.")
    played: tuple[Line, ...]

    def as_text(self) -> str:
        """The results as a table of text."""
        base = self.played[0].guessing
        text = [
            f"{self.attribute} from {self._counted} of batches of {self.batch} records, by "
            f"gradients of {self.model}: {self.trials:,} trials, {base:.1%} right by guessing",
            f"{'defence':14}{'advantage':>26}{'AUROC':>26}{'TPR at 1 % FPR':>26}",
        ]
        for line in self.played:
            text += line.as_text()
        for line in self.played:
            if line.epsilon_substitution is not None:
                text.append(
                    f"{line.defence} at sigma {self.sigma:g}: epsilon "
                    f"{line.epsilon_substitution:.4g} at delta {self.delta:g} for an attribute "
                    f"flipped (a record substituted), {line.epsilon_add_remove:.4g} for a record "
                    "added"
                )
        return "\n".join(text)

    @property
    def _counted(self) -> str:
        """How often a batch is released, in words."""
        each = "one release" if self.releases == 1 else f"{self.releases:,} releases"
        if self.rounds == 1:
            return each
        return f"{each} in each of {self.rounds:,} rounds of training"


def play(
    model: VendorModel,
    people: PeopleTable,
    attribute: Sequence[str],
    names: Sequence[str],
    rules: PlayRules,
) -> PlayedGames:
    """Plays every defence, by name, on the same trials. Raises ValueError in one line."""
    defences = {name: rules.defence(name) for name in names}
    still = [name for name, defence in defences.items() if not _noisy(defence)]
    if rules.releases > 1 and still:
        raise ValueError(
            f"releases = {rules.releases}: expected 1 with {', '.join(still)}: without noise, all "
            "releases of a batch by one model are the same; rounds of training are --rounds"
        )
    table = VendorRecords(people.records, people.labels, people.sensitive, people.names)
    lines = []
    for name, defence in defences.items():
        rounds = [_round(model, table, defence, rules, n) for n in range(rules.rounds)]
        costs: tuple[float | None, ...] = (None, None)
        if isinstance(defence, DPSGD) and _noisy(defence):
            adjacencies, times = (Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE), rules.in_all
            costs = tuple(defence.epsilon(rules.delta, times, a) for a in adjacencies)
        by_round = tuple(Seen.of(one) for one in rounds)
        seen = Seen.of(together(rounds)) if len(rounds) > 1 else by_round[0]
        lines.append(
            Line(
                defence=name,
                **dict(seen),
                guessing=rounds[0].base,
                by_round=by_round,
                epsilon_substitution=costs[0],
                epsilon_add_remove=costs[1],
            )
        )
    named = ", ".join(attribute)
    return PlayedGames(**dict(rules), model=model.spec, attribute=named, played=tuple(lines))


def _noisy(defence: Defence) -> bool:
    """Whether two releases of a batch by one model differ."""
    return isinstance(defence, DPSGD) and defence.multiplier > 0.0


def _round(
    model: VendorModel, table: VendorRecords, defence: Defence, rules: PlayRules, number: int
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

"""`gradient-leakage`: how well an attacker infers an attribute from gradients under the claim."""

from typing import TYPE_CHECKING

import numpy as np

from .....attacks.gradients.canaries import checked
from .....reference.numbers import NoisyGradient
from ....evidence.same_law import log_e_value_above
from ....findings.finding import Finding, Outcome
from ....findings.note import Fields, Note
from ....findings.verdict import Verdict
from ....optional_packages import missing_package
from ....run.checks import Check, Reason, RunContext
from ....run.phase import Phase
from ....targets import Refused
from ..claim import LeakageClaim, NumbersClaim
from ..planning.plan import as_values
from ..vendor_model import ModelError, VendorModel, model_of

if TYPE_CHECKING:
    from .....attacks.gradients.played import Played
    from .....attacks.gradients.posteriors import Floats
    from .....attacks.gradients.vendor_game import SensitiveBatches, VendorGame
from dataclasses import dataclass, field

from numpy.typing import NDArray

from .....attacks.gradients.defences.defence import Defence, Gradients

_TRIALS, _FEWEST = 2_000, 200  # simulated; of wide gradients, fewer
_OF_TARGET = 100  # trials whose releases are asked of the target
_NUMBERS = 40_000_000  # of all simulated releases, and of what the target is sent
_CAUSE = "the claimed noise hides too little: raise it, or release fewer gradients of a batch"


class GradientLeakage(Check):
    """Plays the inference game of Li et al. 2024 under the claimed law, and on the target.

    What the claim reveals follows from the claim, the vendor's model and its data alone, so that
    the game is simulated; whether the target does its claim is for other checks. With
    `max_advantage` the null is that an adversary who knows the claim, and has learned from half of
    the data, gains at most that. Trials are independent, and drawn from the other half.
    """

    id = "gradient-leakage"
    phase = Phase.OWN
    queries: int = 0

    @classmethod
    def not_applicable_to(cls, claim: NumbersClaim) -> Reason:
        why = "the claim has no [leakage]: no model and data to attack"
        return None if claim.leakage else Note("not-claimed", why)

    @property
    def asks(self) -> int:
        """Releases of the trials on the target."""
        leakage = self.claim.leakage
        return _OF_TARGET * leakage.releases if leakage else 0

    def conclude(self, context: RunContext) -> Outcome | None:
        """A model that fails is an error, not one of the target."""
        assert self.claim.leakage is not None
        try:
            return self._played(context, self.claim.leakage)
        except ModelError as error:
            failed = Finding.of(Note("model-failed", str(error)))
            return Outcome(Verdict.ERROR, failed, self.queries)
        except ModuleNotFoundError as error:
            if not (package := missing_package(error)):
                raise
            needed = f"this needs {package}, which is not installed: pip install {package}"
            absent = Note("package-missing", needed, {"package": package})
            return Outcome(Verdict.ERROR, Finding.of(absent), self.queries)

    def _played(self, context: RunContext, leakage: LeakageClaim) -> Outcome:
        from .....attacks.gradients.vendor_game import SensitiveBatches

        model = model_of(self.claim)
        game = made_game(self.claim, leakage, model, self.seed)
        width = self.claim.mechanism.width
        trials = game.trials(int(np.clip(_NUMBERS // width, _FEWEST, _TRIALS)), 0)
        simulated = game.simulated(trials)
        room = min(context.left // leakage.releases, _NUMBERS // (width * leakage.batch))
        asked = game.trials(min(_OF_TARGET, room), 1) if room else None
        released = None if asked is None else self._released(context, model, game, asked)
        if asked is not None and released is not None:
            rows = np.concatenate([trials.rows, asked.rows])
            values = np.concatenate([trials.sensitive, asked.sensitive])
            both = game.played(
                SensitiveBatches(rows, values), np.concatenate([simulated, released])
            )
            of_target = both.part(slice(len(simulated), None))
            return self._judged(leakage, both.part(slice(len(simulated))), of_target)
        return self._judged(leakage, game.played(trials, simulated), None)

    def _released(
        self,
        context: RunContext,
        model: VendorModel,
        game: "VendorGame",
        asked: "SensitiveBatches",
    ) -> "Floats | None":
        """What the target releases of these batches (t, coordinates); None where it refuses."""
        from .....attacks.gradients.vendor_game import coordinates

        table, releases = game.private.table, game.releases
        looked_at = coordinates(self.claim.mechanism.width)
        found = []
        for rows in asked.rows:
            gradients = checked(model(table.records[rows], table.labels[rows]), table.labels[rows])
            values = as_values(self.claim.mechanism, gradients)
            context.tell(self.id, context.queries + releases)
            try:
                reply = context.target.ask(values, releases)
            except Refused:
                return None
            context.spend(releases)
            self.queries += releases
            shaped = self.claim.release.shaped(reply, values, releases)
            found.append(shaped.mean(0)[looked_at])
        return np.nan_to_num(np.array(found, dtype=np.float32))

    def _judged(
        self, leakage: LeakageClaim, played: "Played", of_target: "Played | None"
    ) -> Outcome:
        limit, gained = leakage.max_advantage, played.advantage
        text = self._text(leakage, played, of_target)
        if not limit:
            warning = (
                f"the claim lets an attacker gain {gained.value:.1%} of what there is to infer of "
                f"{leakage.named} (see gradient-leakage); max_advantage in [leakage] sets a limit"
            )
            gain: Fields = {"advantage": float(gained.value), "attribute": leakage.named}
            noted = Note("attribute-inferred", warning, gain)
            return Outcome(Verdict.PASS, Finding(text, warnings=(noted,)), self.queries)
        if gained.value <= limit:
            within = f"{text}: within max_advantage = {limit:g}"
            return Outcome(Verdict.PASS, Finding(within), self.queries)
        allowed = played.base + limit * (1.0 - played.base)
        sure = log_e_value_above(played.right.astype(float), allowed) >= self.log_threshold
        doubt = "" if sure else ", though not surely so at this false_alarm"
        message = f"{text}: more than max_advantage = {limit:g} allows{doubt}"
        verdict = Verdict.FAIL if sure else Verdict.INCONCLUSIVE
        code = "advantage-above-limit" if sure else "advantage-not-certain"
        cause = Note(code, _CAUSE, {"advantage": float(gained.value), "limit": limit})
        return Outcome(verdict, Finding.caused(message, cause), self.queries)

    def _text(self, leakage: LeakageClaim, played: "Played", of_target: "Played | None") -> str:
        gained, several = played.advantage, leakage.releases > 1
        each = f"{leakage.releases} releases of a batch" if several else "one release of a batch"
        text = (
            f"from {each} of {leakage.batch} records, an attacker infers {leakage.named} in "
            f"{played.right.mean():.1%} of {played.right.size:,} simulated trials, where "
            f"{played.guessing:.1%} are right by always saying the commonest value: "
            f"{gained.value:.1%} of what there is to gain "
            f"({gained.low:.1%} to {gained.high:.1%} with confidence 0.95"
        )
        if of_target is not None:
            text += (
                f"; {of_target.right.mean():.1%} right in {of_target.right.size} trials on what "
                "the target released"
            )
        return text + ")"


def made_game(
    claim: NumbersClaim, leakage: LeakageClaim, model: VendorModel, seed: int
) -> "VendorGame":
    """The game on the vendor's model and data, whose defence is the claim. Raises ModelError."""
    from .....attacks.gradients.vendor_game import VendorRecords, vendor_game

    aggregation, people = claim.mechanism.aggregation, leakage.people
    assert isinstance(aggregation, NoisyGradient)
    table = VendorRecords(people.records, people.labels, people.sensitive, people.names)
    how = {"size": leakage.batch, "releases": leakage.releases, "seed": seed}
    try:
        return vendor_game(model, table, ClaimedRelease(mechanism=aggregation), **how)
    except ModelError:
        raise
    except ValueError as error:
        raise ModelError(f"{leakage.model} on {leakage.data}: {error}") from None


@dataclass(frozen=True)
class ClaimedRelease(Defence):
    """Clipping, division and noise as claimed."""

    name: str = "the claim"
    mechanism: NoisyGradient = field(kw_only=True)

    def shares(self, norms: NDArray[np.float32]) -> NDArray[np.float32]:
        """What clipping leaves of each gradient, over the public number."""
        bound = np.float32(self.mechanism.clip_norm)
        left = bound / np.maximum(norms, bound)
        return np.asarray(left / self.mechanism.divide_by, dtype=np.float32)

    def defended(
        self, gradients: Gradients, sensitive: NDArray[np.int64] | None, seed: int
    ) -> Gradients:
        """Adds the noise, with its rounding."""
        del sensitive
        rng = np.random.default_rng(seed)
        released = self.mechanism.noise.sample(gradients, 1, rng)[0]
        return np.asarray(released, dtype=np.float32)

"""How far altered records move a release: what `clipping` and `sensitivity` share."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import sensitivity
from .....reference.numbers.floats import ulp
from ....findings.excluded import Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Note
from ....findings.verdict import Verdict
from ....run.checks import Check, RunContext
from ....run.error_budget import log_threshold
from ....targets import Refused, TargetError
from ..claim import NumbersClaim
from ..evidence.moved import Answered, MovedAlong, Seen, seen_move
from ..mechanism import RECORDS
from ..planning.asked import digits_of
from ..planning.neighbours import HeldTo, Neighbour, simple_neighbours
from ..planning.other_sums import moved_as
from ..planning.plan import NumbersPlan, at_once
from ..registry import SIMPLEST_SHARE
from .refusals import said_of

_CAUSE = Note("records-not-clipped", "records are not clipped as claimed before they are summed")
_CHANGED = Note(
    "records-changed", "records within the bounds are left out, changed, or summed with a loss"
)

_LEFT_OVER = "state-of-refused-call"
_NEXT = "what a refused call leaves over enters the next answer"
_STAYS = "what a call leaves over, such as one that is refused, enters all answers after it"
_NOT_AGAIN = "simple records beyond the bounds, asked alone, did not show it"
_BY_NORMAL = (
    "mean and variance of the evidence, taken to be normal; beyond what is allowed and what floats "
    "may lose"
)

_FEWEST = 40  # releases of an input, which show moves by some scales of the noise
_OTHERS = 100  # coordinates that are looked at beside those of an altered record, of many
_NUMBERS = 1 << 27  # that travel for an input: as JSON, ten minutes of a million a release
_OTHER_STEPS = 4  # of a sum, beside its additions, that may lose an ulp each


class MovingRecords(Check):
    """Asks inputs with altered records, and judges the releases of each.

    Every input has wagers of its own: on each coordinate that is looked at and, where a norm is
    bounded, on all numbers along the record. A target may refuse such records. served: the inputs
    that it has answered.
    """

    claim: NumbersClaim
    plan: NumbersPlan
    most: int
    """Releases of each input, where a run is not planned for few queries."""
    pools = False
    """Whether records that pull along the same numbers, with any signs, are judged together too."""

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        self.noise = claim.mechanism.aggregation.noise
        self.asked = self.inputs(claim, seed)
        self.log_threshold += math.log((2 + self.pools) * max(len(self.asked), 1))
        self._pooled: dict[bytes, MovedAlong] = {}
        self.coordinates = np.union1d(plan.coordinates, self.places(claim, seed))
        self.served = list[Neighbour]()
        self.lost = 0.0
        """How far floats may have carried a sum, which no release tells from a move."""

    def inputs(self, claim: NumbersClaim, seed: int) -> list[Neighbour]:
        """The altered inputs."""
        raise NotImplementedError

    def passed(self, queries: int, excludes: Sequence[Excluded]) -> str:
        """What to say where nothing has moved too far; excludes: what that excludes."""
        raise NotImplementedError

    def places(self, claim: NumbersClaim, seed: int) -> NDArray[np.int64]:
        """Coordinates that are looked at beside those of the plan."""
        return np.empty(0, dtype=np.int64)

    def releases_of(self, neighbour: Neighbour | None = None) -> int:
        """Releases of an input; by default, of one that wants no number of its own."""
        wanted = self.most if neighbour is None else neighbour.releases or self.most
        fit = min(wanted, _NUMBERS // self.claim.mechanism.width)
        return max(_FEWEST, math.ceil(self.plan.share * fit))

    @cached_property
    def _seen_move(self) -> float:
        """The least move beyond what is allowed that shows, where floats lose nothing."""
        most = self.coordinates.size
        return seen_move(self.noise, self.releases_of(), most, self.log_threshold)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """By all altered inputs."""
        return self.excluded_by(self.asked)

    def excluded_by(self, answered: Sequence[Neighbour]) -> tuple[Excluded, ...]:
        """What a pass excludes by the altered inputs that are answered."""
        least = self.releases_of()
        held = [one for one in answered if one.held_to is not HeldTo.SUM]
        shown = [one for one in held if self.releases_of(one) >= least]
        clamped = math.isfinite(self.noise.low) or math.isfinite(self.noise.high)
        if not shown or clamped or math.isinf(self._seen_move):  # clamped releases tell less
            return ()
        names, asked = [one.name for one in shown], sum(self.releases_of(one) for one in shown)
        size = {"beyond": self._seen_move}
        return (self.entry(_CAUSE.code, size, names, asked, method=_BY_NORMAL),)

    def would_show(self, excludes: Sequence[Excluded]) -> str:
        """The least move that a pass would have seen, in words: with what floats may lose."""
        least = self._seen_move + self.lost
        shown = "; ".join(
            f"a move {least:.3g} longer would have been seen with probability {one.probability:g}"
            for one in excludes
        )
        if math.isinf(self._seen_move):
            shown = "so few would not have shown a move of ten scales of the noise"
        return (shown or "no length is told that would have been seen") + self.narrow

    @property
    def narrow(self) -> str:
        """What a pass adds where a norm is bounded but only single numbers are judged."""
        mechanism = self.claim.mechanism
        if mechanism.norm is None or mechanism.width == 1 or self._sums:
            return ""
        return "; single numbers were looked at, not the norm over all"

    @property
    def axis(self) -> int:
        """The number that is extreme where one number of a record is."""
        return int(self.plan.coordinates[0])

    @property
    def asks(self) -> int:
        return sum(self.releases_of(neighbour) for neighbour in self.asked)

    def conclude(self, context: RunContext) -> Outcome | None:
        queries, refused = 0, list[tuple[str, Note]]()
        last_refused: Neighbour | None = None
        for neighbour in self.asked:
            releases = self.releases_of(neighbour)
            if context.left < releases:
                context.use_up()
                return None
            try:
                released = self._released(context, neighbour, releases)
            except Refused as refusal:
                refused.append((neighbour.name, Note("input-refused", str(refusal))))
                last_refused = neighbour
                continue
            except TargetError as failure:
                if not neighbour.typed:
                    raise
                refused.append((neighbour.name, Note(failure.code, str(failure))))
                if context.target.no_restart is None:  # its process may have ended there
                    context.target.restart()
                continue
            queries += releases
            self.served.append(neighbour)
            found = self._judged(neighbour, released)
            if found is not None:
                found = self._explained(context, found, neighbour, released, last_refused)
                return Outcome(Verdict.FAIL, found, queries)
        warnings = said_of(refused)
        if not queries:
            nothing = Note("input-refused", "every input with an altered record is refused")
            found = replace(Finding.of(nothing), warnings=warnings)
            return Outcome(Verdict.NOT_APPLICABLE, found, 0)
        excludes = self.excluded_by(self.served)
        message = self.passed(queries, excludes)
        passed = Finding(message, warnings=warnings, excludes=excludes)
        return Outcome(Verdict.PASS, passed, queries)

    def _explained(
        self,
        context: RunContext,
        found: Finding,
        neighbour: Neighbour,
        released: Answered,
        refused: Neighbour | None,
    ) -> Finding:
        """The violation with its likeliest cause, and with the simplest record that shows it.

        refused: the last input before it that was refused, if one was.
        """
        left = None if refused is None else self._left_over(context, neighbour, refused)
        if left is not None:
            seen = {**found.fields, **left.fields}
            return Finding.caused(found.message, Note(left.code, left.message, seen))
        law = self.claim.mechanism.aggregation
        norm = moved_as(law, neighbour.values, released.numbers, self.coordinates)
        if norm is not None:
            seen = {**found.fields, **norm.fields}
            found = Finding.caused(found.message, Note(norm.code, norm.message, seen))
        if neighbour.held_to is HeldTo.SUM:
            return found
        return self._with_simplest(context, found, self._way(neighbour, released))

    def _left_over(
        self, context: RunContext, neighbour: Neighbour, refused: Neighbour
    ) -> Note | None:
        """That a refused call enters answers after it, where these show it; asked only then.

        Either an input moves a release after the refused call alone, or an input that no claim
        bounds moves it too from now on.
        """
        typical = self.plan.inputs[0]
        usual = Neighbour("", typical.values, typical.exact, 0.0, held_to=HeldTo.SUM)
        if not context.explains or context.left < 3 * _FEWEST:
            return None
        try:
            if self._shows(context, neighbour):
                stays = self._shows(context, usual)
                return Note(_LEFT_OVER, _STAYS, {"stays": True}) if stays else None
            try:
                self._released(context, refused, 1)
            except Refused:
                pass
            else:
                return None
            if not self._shows(context, neighbour):
                return None
        except (Refused, TargetError):
            return None
        return Note(_LEFT_OVER, _NEXT, {"stays": False})

    def _shows(self, context: RunContext, neighbour: Neighbour) -> bool:
        """Whether fresh releases of an input show that it moves them too far."""
        released = self._released(context, neighbour, _FEWEST)
        return self._judged(neighbour, released) is not None

    def _way(self, neighbour: Neighbour, answered: Answered) -> float:
        """1 where the releases have moved up, -1 where they have moved down."""
        with np.errstate(invalid="ignore", over="ignore"):
            moved = np.median(answered.numbers, 0) - neighbour.exact[self.coordinates]
        moved = np.nan_to_num(moved)
        return -1.0 if moved[np.abs(moved).argmax()] < 0 else 1.0

    def _with_simplest(self, context: RunContext, found: Finding, way: float) -> Finding:
        """The violation, with the simplest record that shows it on fresh releases, or with none.

        way: 1 for records above the bounds, -1 for records below them.
        """
        tried = list(simple_neighbours(self.claim.mechanism, way)) if context.explains else []
        # a quarter of the share for each of the two checks, two wagers on each record
        share = SIMPLEST_SHARE / 4 / (2 * max(len(tried), 1))
        self.log_threshold = log_threshold(share, self.claim.gate.false_alarm)
        asked = 0
        for neighbour in tried:
            if context.left < _FEWEST:
                break
            try:
                simple = self._judged(neighbour, self._released(context, neighbour, _FEWEST))
            except Refused:
                continue
            asked += 1
            if simple is not None:
                return replace(found, message=f"{found.message}; simplest: {simple.message}")
        return replace(found, message=f"{found.message}; {_NOT_AGAIN}") if asked else found

    def _released(self, context: RunContext, neighbour: Neighbour, left: int) -> Answered:
        most = at_once(self.claim.mechanism.width, left)
        found, along = [], []
        while left:
            size = min(left, most)
            reply = context.target.ask(neighbour.values, size)
            context.spend(size)
            shaped = self.claim.release.shaped(reply, neighbour.values, size)
            found.append(shaped[:, self.coordinates])
            if self._sums and neighbour.direction is not None:
                unit = neighbour.direction
                with np.errstate(invalid="ignore", over="ignore"):
                    along.append(np.stack([shaped @ unit, np.abs(shaped) @ np.abs(unit)], 1))
            left -= size
        return Answered(np.concatenate(found), np.concatenate(along) if along else None)

    def _judged(self, neighbour: Neighbour, answered: Answered) -> Finding | None:
        """The violation that these releases show; None where they show none."""
        released = answered.numbers
        finite = np.isfinite(released)
        if not finite.all():
            shown = released[~finite][0]
            message = f"{neighbour.name}: the release is {shown}, which no noise hides"
            return Finding.caused(message, _CAUSE, released=str(shown))
        chosen = self._chosen(neighbour)
        released, exact = released[:, chosen], neighbour.exact[self.coordinates[chosen]]
        digits = digits_of(released)
        # whatever is added to it, up to its bound
        lost = self._lost(neighbour, np.abs(exact) + neighbour.allowed, digits)
        half = self.noise.half_width(released, digits)
        seen = Seen(self.coordinates[chosen], released, exact, lost, half)
        found = self._moved(neighbour, seen)
        if found is None and answered.along is not None and neighbour.direction is not None:
            found = self._moved_along(neighbour, neighbour.direction, answered.along, digits)
        return found

    def _chosen(self, neighbour: Neighbour) -> NDArray[np.bool_]:
        """Which coordinates are judged: where few are altered, those and some others."""
        chosen = np.ones(self.coordinates.size, dtype=bool)
        if neighbour.altered is not None and chosen.size > _OTHERS:
            chosen[:] = np.isin(self.coordinates, neighbour.altered)
            chosen[:: math.ceil(chosen.size / _OTHERS)] = True
        return chosen

    def _allowed_along(self, neighbour: Neighbour, direction: Vector) -> float:
        """How far the exact value may move along a direction of length 1 (Hoelder's inequality)."""
        mechanism = self.claim.mechanism
        if mechanism.clip_norm1 is not None:
            most = sensitivity(mechanism.aggregation, 1)
            return neighbour.units * most * float(np.abs(direction).max())
        return neighbour.units * sensitivity(mechanism.aggregation, 2)

    def _moved_along(
        self, neighbour: Neighbour, direction: Vector, along: Matrix, digits: int
    ) -> Finding | None:
        """The violation that projections (n, 2) of releases show; None where they show none."""
        if not np.isfinite(along).all():
            return None
        allowed = self._allowed_along(neighbour, direction)
        lost = self._lost(neighbour, np.abs(neighbour.exact) + neighbour.allowed, digits)
        # of a sum of products the floats lose little more than of its numbers
        apart = 2.0 ** (1 - digits) + direction.size * 2.0**-52
        carried = lost @ np.abs(direction) + apart * along[:, 1]
        moved = along[:, 0] - neighbour.exact @ direction
        wagers = [MovedAlong(self.noise, direction)]
        if self.pools:
            alike = np.abs(direction).tobytes()
            wagers.append(self._pooled.setdefault(alike, MovedAlong(self.noise, direction)))
        for evidence in wagers:
            evidence.observe(moved, allowed + carried)
        if not max(evidence.log_e_value for evidence in wagers) >= self.log_threshold:
            return None
        message = (
            f"{neighbour.name} moves the release along itself by about {np.median(moved):.3g}, "
            f"and the claim allows {allowed:.4g}"
        )
        return Finding.caused(
            message, _CAUSE, moved=float(np.median(moved)), allowed=float(allowed)
        )

    def _lost(self, neighbour: Neighbour, largest: Vector, digits: int) -> Vector:
        """How far floats may carry sums (k,) of at most these sizes: an ulp for each record.

        That is half an ulp for the record itself and half for adding it, and some more for clipping
        and dividing. Whole numbers are added without loss as long as floats tell them apart.
        """
        records = neighbour.records if self.claim.mechanism.takes != "counts" else 1
        single = neighbour.typed or records > RECORDS  # so many may be summed in single precision
        first = neighbour.values[0] if isinstance(neighbour.values, list) else neighbour.values
        half = neighbour.typed and getattr(first, "dtype", None) == np.float16
        apart = ulp(largest, 11 if half else 24 if single else digits)
        if self.claim.mechanism.of_whole_numbers:
            apart = np.where(apart <= 1.0, 0.0, apart)
        return np.asarray((records + _OTHER_STEPS) * apart)

    @property
    def _sums(self) -> bool:
        """Whether all numbers of a release are judged along the record, as a norm bounds them."""
        bounded = self.claim.mechanism.norm is not None
        return bounded and math.isinf(self.noise.low) and math.isinf(self.noise.high)

    def _moved(self, neighbour: Neighbour, seen: Seen) -> Finding | None:
        """The violation that a coordinate has moved too far; None where none has."""
        if neighbour.held_to is HeldTo.MOVE:
            self.lost = max(self.lost, float(seen.lost.max(initial=0.0)))
        evidence = seen.wagers(self.noise, neighbour.allowed)
        if not evidence.log_e_value >= self.log_threshold:  # what is no number shows nothing
            return None
        place, sign = evidence.worst
        moved = sign * float(np.median(seen.released[:, place] - seen.exact[place]))
        where, cause = f"coordinate {seen.coordinates[place]}", _CAUSE
        fields = {"coordinate": int(seen.coordinates[place]), "moved": moved}
        message = (
            f" moves {where} by about {moved:.3g}, and the claim allows {neighbour.allowed:.4g}"
        )
        if neighbour.held_to is HeldTo.RANGE:
            message = (
                f": {where} lies about {moved:.3g} off the middle of what they may be taken for, "
                f"and the claim allows {neighbour.allowed:.4g}"
            )
        elif neighbour.held_to is HeldTo.SUM:
            message, cause = (
                f": {where} lies about {sign * moved:.3g} off their exact sum",
                _CHANGED,
            )
            return Finding.caused(
                f"{neighbour.name}{message}", cause, **fields | {"moved": sign * moved}
            )
        allowed = float(neighbour.allowed)
        return Finding.caused(f"{neighbour.name}{message}", cause, **fields, allowed=allowed)

"""What the labels of a run tell of the known faults, and which of these explains them best."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from .....reference.mechanisms import Labels
from ....evidence.dirichlet import PointedEvidence, dirichlet_log_e_value
from ....evidence.outcomes import count_outcomes
from ....findings.note import Note
from ....run.cause import NEAR, SURE
from ..planning.plan import Plan
from ..planning.streams import Role
from .at_times import BareStarts, fit_shares
from .base import Circumstances
from .fits import Fits, distinguishable, divergences
from .fitted import fit_kind, fit_scale, likelier
from .fitted_counts import FittedCounts
from .numbering import AsNumbered, Miscounted

_RIVAL = 3.0  # log-odds by which another numbering must be better than known faults


class LabelsSeen:
    """The labels of all streams, and the evidence of each known fault: over all, and by stream.

    counts, single_counts: labels (streams, outcomes), all and those of calls for a single one;
    pooled, single_calls, first_labels: evidence over all labels, over those of such calls, and over
    the first label of each histogram; pointed, general: by stream, of known faults and of any law;
    starts: whether the first labels after a start are bare.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan, weights = plan, plan.fault_weights
        streams, outcomes = plan.log_q.shape
        self.queries = 0
        self.counts = np.zeros((streams, outcomes))
        self.single_counts = np.zeros((streams, outcomes))
        self.pooled = PointedEvidence(weights)
        self.single_calls = PointedEvidence(weights)
        self.first_labels = PointedEvidence(weights)
        self.pointed = [PointedEvidence(weights) for _ in range(streams)]
        self.general = np.zeros(streams)
        self.starts = BareStarts(plan)
        self._numbered, self._fitted_counts = AsNumbered(plan), FittedCounts(plan)
        self._met: set[tuple[int, ...]] = set()
        self._fits: tuple[int, Fits] | None = None
        self._before: Vector | None = None

    def observe(self, stream: int, labels: Labels, how: Circumstances) -> None:
        """Adds labels (n,) of a stream."""
        fresh = count_outcomes(labels, self.counts.shape[1])
        self.queries += labels.size
        self.counts[stream] += fresh
        self._numbered.observe(stream, fresh, how.rotation)
        ratios = self.plan.rotated_ratios(stream, how.rotation)
        self.pooled.observe(fresh, ratios)
        self.starts.observe(ratios, labels)
        if how.single:
            self.single_counts[stream] += fresh
            self.single_calls.observe(fresh, ratios)
        self._meet(stream, labels[:1], how.rotation)
        self.pointed[stream].observe(fresh, ratios)
        self.general[stream] = self._general_of(self.counts, stream)

    def _meet(self, stream: int, first: Labels, rotation: int) -> None:
        """Adds the first label of a histogram, since production asks most histograms once."""
        votes = tuple(int(v) for v in np.roll(self.plan.streams[stream].histogram, rotation))
        if votes not in self._met:
            self._met.add(votes)
            counts = count_outcomes(first, self.counts.shape[1])
            self.first_labels.observe(counts, self.plan.rotated_ratios(stream, rotation))

    def begin_start(self, first: Sequence[Labels]) -> None:
        """Notes that the target was started again, and its first calls, of the fresh stream.

        They tell the cause of a failure alone.
        """
        self.starts.begin()
        for labels in first:
            self.starts.observe(self.plan.rotated_ratios(self.plan.first(Role.FRESH), 0), labels)
        self._fits = None

    def begin_diagnosis(self) -> None:
        """Notes that labels from now on are asked to diagnose a failure."""
        self._before = self.pooled.log_ratios

    def fits(self) -> Fits:
        """How well the known faults explain the labels.

        All labels, or only those of single-label calls, or only the first of each histogram, where
        these are clearly explained better: the fault is then confined to them.
        """
        if self._fits is None or self._fits[0] != self.queries:
            self._fits = self.queries, self._fitting()
        return self._fits[1]

    def _fitting(self) -> Fits:
        everywhere = Fits.of(self.pooled, self.general[self.counts.any(-1)])
        if self._before is not None:
            everywhere = replace(everywhere, gained=self.pooled.log_ratios - self._before)
        each = np.array([pointed.log_ratios for pointed in self.pointed])
        of_counts = self._fitted_counts.likeliest(self.counts, self.pooled.log_ratios)
        fitted = (
            fit_scale(self.plan, self.counts, self.pooled.log_ratios),
            *fit_shares(self.plan, self.counts, self.pooled.log_ratios),
            *of_counts,
            fit_kind(self.plan, self.counts, each),
            self.starts.likeliest(),
        )
        everywhere = everywhere.with_fitted(likelier(filter(None, fitted)))
        if of_counts and everywhere.fitted is None:
            everywhere = replace(everywhere, beside=of_counts[0].fault.note)
        met = Fits.of(self.first_labels, np.zeros(1), first=True)
        if met.explained and met.log_odds > max(everywhere.log_odds, 0.0) + SURE:
            return met
        if self.single_calls.log_ratios.max() <= everywhere.log_odds + SURE:
            return everywhere
        asked = np.flatnonzero(self.single_counts.any(-1)).tolist()
        general = [self._general_of(self.single_counts, i) for i in asked]
        singly = Fits.of(self.single_calls, np.array(general), single=True)
        chosen = fit_scale(self.plan, self.single_counts, self.single_calls.log_ratios)
        singly = singly.with_fitted(chosen)
        return singly if singly.explained else everywhere

    def excess(self) -> NDArray[np.float64]:
        """Evidence (streams,) of any other law, beyond that of the best known fault."""
        fits = self.fits()
        known = np.array([pointed.log_ratios[fits.best] for pointed in self.pointed])
        return self.general - (known if fits.fitted is None else fits.fitted.each)

    def _general_of(self, counts: NDArray[np.float64], stream: int) -> float:
        effect = self.plan.claim.gate.smallest_effect
        return dirichlet_log_e_value(counts[stream], self.plan.log_q[stream], effect)

    def rivals(self, fits: Fits) -> tuple[Note | None, Note | None]:
        """A fault that no labels could distinguish from the best one, and the next best of others.

        None where none is nearly as likely.
        """
        best = fits.best
        apart = distinguishable(divergences(self.plan, best))
        least = max(fits.log_odds - NEAR, 0.0)
        others = [i for i in np.argsort(-fits.ratios) if i != best and fits.ratios[i] >= least]
        same = (self.note_of(i, fits) for i in others if not apart[i])
        near = [self.note_of(i, fits) for i in others if apart[i]]
        if fits.fitted is not None and fits.fitted.near is not None:
            near.insert(0, fits.fitted.near)
        if fits.beside is not None:
            near.insert(0, fits.beside)
        return next(same, None), next(iter(near), None)

    def note_of(self, fault: int, fits: Fits) -> Note:
        """A fault, with the query from which it set in if that is not the first."""
        note, onset = self.plan.faults[fault].note, int(fits.onsets[fault])
        if fits.fitted is not None and fits.fitted.stands_for == fault:
            note = fits.fitted.fault.note
        if onset == 0 or fits.single or fits.first:
            return note
        words = f"{note}, from about query {onset:,} of this run on"
        return Note(note.code, words, {**note.fields, "from_query": onset})

    def other_numbering(self, fits: Fits) -> Miscounted | None:
        """Another numbering of the classes, if it explains the labels better than known faults."""
        if self.plan.claim.mechanism.caching:  # streams are rotated for every call
            return None
        found = self._numbered.likeliest()
        known = fits.log_odds if fits.explained else 0.0
        better = found is not None and found.log_ratio > known + _RIVAL
        return found if found and better and fits.would_explain(found.log_ratio) else None

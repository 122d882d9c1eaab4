"""Once a run is refuted: labels that tell the cause, and the simplest histogram that shows it."""

from dataclasses import replace

import numpy as np

from ....run.cause import SURE
from ....targets import Refused
from ..checks.fits import MOST
from ..planning.plan import Batch
from ..planning.roles import Role
from .diagnosis import diagnosing_batches
from .gathering import Gathering
from .simplest import find_simplest

_MORE_IN_ORDER = 512  # calls in turn that tell on what noise depends
_LEAST_SEARCH = 1024  # queries that the search for a simplest histogram may always take


def explain(gathering: Gathering) -> None:
    """Asks on until the cause of a failure is told from its rivals, then for a simplest case."""
    labels, fresh = gathering.observers.labels, gathering.observers.fresh
    order_alone = gathering.observers.only_order_refuted
    if order_alone:
        gathering.state.tell("looking for the cause")
        gathering.ask_more_in_order(_MORE_IN_ORDER)
        if labels is not None:  # a fault that has set in meanwhile shows in any calls
            informative = gathering.plan.first(Role.INFORMATIVE)
            _ask(gathering, Batch(informative, _MORE_IN_ORDER // 2, call=1))
        if labels is None or not labels.fits().explained:
            return
    if labels is None:
        return
    labels.begin_diagnosis()
    state = gathering.state
    state.tell("looking for the cause", state.queries + MOST)
    batches = diagnosing_batches(
        gathering.plan,
        labels.fits,
        labels.excess,
        lambda: -np.inf if fresh is None else fresh.log_odds,
        gathering.without,
    )
    for batch in batches:
        if not _ask(gathering, batch):
            break
    unexplained = not labels.fits().explained and (fresh is None or fresh.log_odds <= SURE)
    # or rather a fault that depends on the calls before
    if not order_alone and (labels.fits().single or unexplained):
        gathering.ask_more_in_order(_MORE_IN_ORDER)
    _simplify(gathering)


def _ask(gathering: Gathering, batch: Batch) -> bool:
    """Feeds labels for the diagnosis to all checks; False when the budget is used up."""
    size = min(batch.size, gathering.state.left)
    if size > 0:
        gathering.ask_what_is_served(replace(batch, size=size))
    return size == batch.size


def _simplify(gathering: Gathering) -> None:
    """Once the labels' law is refuted, looks for the simplest histogram that shows it."""
    state, observers = gathering.state, gathering.observers
    fits = None if observers.labels is None else observers.labels.fits()
    caching = gathering.plan.claim.mechanism.caching
    if not observers.law_refuted or fits is None or not fits.explained or caching:
        return
    call = 1 if fits.single else None
    budget = min(max(state.queries // 2, _LEAST_SEARCH), state.left)
    state.tell("looking for the simplest histogram", state.queries + budget)
    try:
        state.outcome.simplest = find_simplest(
            gathering.plan,
            fits.best,
            lambda stream, size: gathering.ask(Batch(stream, size, call=call)),
            budget,
        )
    except Refused as refusal:
        state.outcome.warn(f"a simple histogram is refused: {refusal}")

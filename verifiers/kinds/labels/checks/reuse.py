"""The findings of `fresh-noise` in words: what was seen, and the likeliest cause."""

from ....evidence.repetition import SHARES as COPIED
from ....findings.finding import Finding
from ..planning.streams import FRESH_CALL

_DRAWN_ONCE = (
    "something is drawn once per call, such as the scale, the teachers who are sampled or a part "
    "of the noise: draw it for each answer"
)

WORDS = {
    "frozen": (
        "answers-kept",
        "answers to one histogram never change",
        "one draw per histogram is kept (a cache, or a seed made from the input), or there is no "
        "noise at all; if answers are kept by design, claim caching = true",
    ),
    "once per call": (
        "noise-once-per-call",
        "all answers of a call are the same, and calls differ",
        "noise is drawn once per call (or nearly every answer repeats the one before): draw it for "
        "each answer, in the shape (size, classes)",
    ),
    "once": (
        "answers-equal-in-call",
        "all answers of a call are the same",
        "noise is drawn once per call and not for each answer, in the shape (size, classes); or "
        "one draw per histogram is kept (a cache, or a seed made from the input; if that is by "
        "design, claim caching = true); or answers repeat the one before; or there is no noise at "
        "all",
    ),
    "restarted": (
        "seed-fixed",
        "after a restart the target gives the labels of its first start again",
        "a fixed seed, or one made of the process id: seed from the operating system's entropy, or "
        "not at all",
    ),
    "replayed": (
        "state-replayed",
        "after a restart the target gives labels again that it gave before",
        "its state is saved now and then, and taken up again: save it before an answer goes out, "
        "or seed anew at every start from the operating system's entropy",
    ),
    "begun": (
        "seed-fixed",
        "after every restart the target gives the same labels",
        "a fixed seed, or one made of the process id (or state that is saved now and then, and "
        "taken up again): seed from the operating system's entropy, or not at all",
    ),
    "contained": (
        "seed-of-process-id",
        "two processes of the same process id give the same labels",
        "a seed made of the process id, which is the same at every start in a container (or state "
        "that is saved now and then, and taken up again): seed from the operating system's entropy",
    ),
    "compared": (
        "seed-fixed",
        "the target gives the labels again that an earlier report opens with",
        "a fixed seed, or one made of the process id: seed from the operating system's entropy, or "
        "not at all",
    ),
    "recurring": (
        "seeds-come-again",
        "after some restarts the target gives the first labels of one of its earlier starts again",
        "few seeds take turns, or are drawn: a list of them, a counter of starts that goes round, "
        "a seed of few bits. Seed from the operating system's entropy at every start",
    ),
    "connection": (
        "noise-shared-by-connection",
        "the answers over one connection are alike, and not as those over others",
        "noise, a generator's seed or a scale is set once per connection, and every client that "
        "keeps its connection gets it again: draw it anew for each answer",
    ),
    "crossed": (
        "release-of-another-call",
        "{crossed} of {calls} calls, on two histograms that were in flight together, have a label "
        "that fits the other histogram better",
        "a request is kept where the next one overwrites it (an attribute of the service, a "
        "global, a buffer): keep what belongs to a request in its own variables",
    ),
    "calls": (
        "noise-reused",
        "a call of {size} answers gives the answers of an earlier call again",
        "noise is reused: look for a pool, or generators are seeded alike (a clock, a counter, few "
        "seeds, or workers that were forked with one generator): create one, seeded by the "
        "operating system",
    ),
    "neighbours": (
        "noise-shared-across-inputs",
        "answers to two histograms come from the same noise, place by place",
        "generators kept for each histogram start from one seed, or the same noise is used for "
        "every histogram: neighbours then differ only where a vote decides. Draw it anew for each",
    ),
    "same votes": (
        "seed-of-the-votes",
        "answers to two inputs with the same votes come from the same noise, place by place",
        "the generator is seeded by the votes, for every input anew: keep one generator, seeded by "
        "the operating system",
    ),
    "kept teachers": (
        "sampled-teachers-kept",
        "labels of a histogram have the law of one part of the teachers, drawn once",
        "the sampled teachers are kept, of which the claim draws new ones for each answer: draw "
        "them for each answer",
    ),
    "totals": (
        "noise-shared-across-totals",
        "answers to histograms of two totals come from the same noise, place by place",
        "generators kept for each total start from one seed: keep one generator, seeded by the "
        "operating system",
    ),
    "in turn": (
        "noise-kept-between-calls",
        "an answer depends on the answer to another histogram asked just before",
        "noise is kept from one call to the next, or shared by requests: draw it anew for each",
    ),
    "periodic": (
        "noise-reused",
        "of every {period} answers one repeats the one before it",
        "noise is not drawn anew for every answer: look for a counter or a buffer",
    ),
    "dependent": (
        "noise-correlated",
        "an answer depends on the one before it",
        "noise is correlated from answer to answer (antithetic, smoothed, or reused in part): draw "
        "it independently",
    ),
    "ordered": (
        "answers-sorted",
        "of two answers of a call that differ, one class comes first too often",
        "answers of a call are sorted, or their order depends on the votes: give them in the order "
        "in which they were drawn",
    ),
    "dispersed, even": (
        "draws-balanced",
        "counts of labels in a call are too even: they vary {factor:.2g} times as much as those of "
        "independent labels",
        "the draws of a call balance each other (strata, a Latin hypercube, systematic resampling, "
        "noise with its sign changed): one call then gives the votes away. Draw independently",
    ),
    "spread, even": (
        "draws-balanced",
        "counts of labels in blocks of {size:,} of a histogram are too even: they vary "
        "{factor:.2g} times as much as those of independent labels",
        "draws are spread over many calls (strata, a low-discrepancy sequence, a deck that is "
        "dealt and shuffled): together they give the votes away. Draw independently",
    ),
    "spread, uneven": (
        "noise-changes-between-calls",
        "counts of labels in blocks of {size:,} of a histogram are too uneven: they vary "
        "{factor:.2g} times as much as those of independent labels",
        "something changes between calls, such as the scale: draw every answer by one law",
    ),
    "screened once": (
        "screening-once-per-call",
        "the answers of a call are refused together, or not at all",
        "the screening is drawn once per call: draw it for each answer",
    ),
    "own law": (
        "drawn-once-per-call",
        "labels within a call are alike more than labels of different calls",
        _DRAWN_ONCE,
    ),
    "dispersed, uneven": (
        "drawn-once-per-call",
        "counts of labels in a call are too uneven: they vary {factor:.2g} times as much as those "
        "of independent labels",
        _DRAWN_ONCE,
    ),
}
"""For each kind of reuse: its code, what was seen, and the likeliest cause."""

OTHERWISE = "answers to one histogram are equal to each other more, or less, often than claimed"
"""What was seen, where a fault of the labels' law explains it and noise may well be new."""


_WHOLE = 0.9
"""Share of copies from which all labels are said to be copies."""


def copies_most(row: int) -> bool:
    """Whether a row of `Repetition` is the wager that nearly every label is a copy."""
    return row < COPIED.size and float(COPIED[row]) > _WHOLE


def _of_copies(share: float, distance: int, histogram: tuple[int, ...]) -> Finding:
    """The finding on labels that copy the one `distance` before with probability `share`."""
    whole, fields = share > _WHOLE, {"share": share, "distance": distance}
    answers = "answers" if whole else f"some answers (about {100 * share:.0f} %)"
    message = f"{answers} repeat {_before(distance)} on the same histogram"
    code = "noise-reused"
    diagnosis = "noise is reused: look for a pool, a buffer, or a generator that is reset"
    if distance == FRESH_CALL and whole:
        code = "seed-set-each-call"
        message += f": calls of {FRESH_CALL} answers give the same answers"
        diagnosis = (
            "the generator is seeded anew in every call, or on every connection: create it once, "
            "unseeded"
        )
    elif distance == 1 and not whole:
        diagnosis = (
            "noise is reused, or correlated from answer to answer (a buffer, smoothing): draw it "
            "independently"
        )
    elif not whole:
        diagnosis = WORDS["calls"][2]
    return Finding(message, diagnosis, histogram, code=code, fields=fields)


def of_wager(
    row: int, distance: int, histogram: tuple[int, ...], counted: float | None = None
) -> Finding:
    """The finding for the wager in a row of `Repetition`: on copies, or on too few equal labels.

    counted: the share of copies by how many labels are equal, if it is known.
    """
    if row < COPIED.size:
        share = float(COPIED[row])
        if counted is not None and share <= _WHOLE:
            share = float(f"{min(counted, _WHOLE):.2g}")
        return _of_copies(share, distance, histogram)
    return Finding(
        f"answers avoid {_before(distance)} on the same histogram: they agree too rarely",
        "noise is used again with its sign changed (antithetic draws), or spread evenly over the "
        "answers: draw it independently",
        histogram,
        code="noise-in-opposite-pairs",
        fields={"distance": distance},
    )


def _before(distance: int) -> str:
    return "the one before" if distance == 1 else f"the one {distance:,} before"

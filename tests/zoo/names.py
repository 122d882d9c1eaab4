"""By what name the diagnosis of a broken aggregator should call its fault.

A fragment that the right diagnosis contains: for faults of the labels' law from the wordings of
`planning/faults.py`, `planning/rounding.py` and `checks/numbering.py` under
`verifiers/kinds/labels/`, for noise that is not fresh from those of `checks/reuse.py`, for what
depends on the order of calls from those of `planning/features.py`. What is left out has no name
there, and the right diagnosis gives none.
"""

NO_NOISE = "without any noise"
SEEDED_IN_CALLS = "the generator is seeded anew in every call"
SEEDED_ALIKE = "generators are seeded alike"
KEPT = "one draw per histogram is kept (a cache, or a seed made from the input), or"
REUSED = "noise is reused: look for a pool"
CORRELATED = "correlated from answer to answer"
BALANCED = "the draws of a call balance each other"
SINGLY = "in calls for one label, labels fit"

_SCALE = {
    "no-noise": NO_NOISE,
    "half-scale": "half the claimed scale",
    "double-scale": "twice the claimed scale",
    "nine-tenths-scale": "0.9 of the claimed scale",
    "root-scale": "the square root of the claimed scale",
    "square-scale": "the square of the claimed scale",
    "inverse-scale": "the inverse of the claimed scale",
    "unit-scale-cast-to-int": "scale 1 whatever is claimed",
    "half-sensitivity": "half the claimed scale",
    "one-of-two-parties": "the claimed scale over the square root of 2",
    "noise-added-twice": "the square root of 2 times the claimed scale",
    "votes-counted-twice": "half the claimed scale",
}

_FAMILIES = {
    "laplace-equal-variance": "laplace:28.28",
    "laplace-same-scale": "laplace:40",
    "gaussian-for-laplace": "gaussian:28.28",
    "gumbel-equal-variance": "gumbel:31.19",
    "permute-and-flip-for-gumbel": "exponential:20",
    "clipped-at-2-sigma": "clipped at twice its scale",
}

_CLASSES = {
    "ten-classes-hard-coded": "noise missing on classes from 10 on",
    "last-class-forgotten": "noise missing on the last class",
    "empty-classes-forgotten": "noise missing on classes without votes",
    "one-noise-for-all-classes": NO_NOISE,
    "half-shared-noise": "the claimed scale over the square root of 2",
    "first-class-favoured": "the first class given",  # ten votes; 4 and 14 are known
    "class-0-four-votes-more": "the first class given 4 votes more",
    "class-0-six-votes-fewer": "the first class given 4 votes fewer",
    "last-class-wins-near-ties": "the last class given 4 votes more",
    "background-never-released": "a class had been left out: class 0 never came",
}

_INPUTS = {
    "single-bare-beyond-20": f"{SINGLY} no noise where the leader is more than 20 votes ahead",
    "single-bare-beyond-80": f"{SINGLY} no noise where the leader is more than 80 votes ahead",
    "bare-beyond-160": "no noise where the leader is more than 1",  # the known leads are few
    "bare-beyond-200": "no noise where the leader is more than ",
    "clear-lead-shortcut": "no noise where the leader is more than 80 votes ahead",
    "noise-breaks-ties-alone": NO_NOISE,
    "single-answers-bare": f"{SINGLY} the plurality",
    "first-of-call-bare": f"{SINGLY} the plurality",
}

_KINDS = {
    "scaled-from-200-votes": "votes of 200 to 250 in all scaled up to 250",
    "threshold-of-the-share": "the threshold compared with the share of the votes",
    "threshold-of-the-share-from-200": "the threshold compared with the share of the votes",
}

_SUPPORTS = {
    f"half-for-{k}-classes": f"half the claimed scale, where {k} classes have votes"
    for k in (3, 5, 8)
} | {"half-for-2-classes": "half the claimed scale, where 2 classes"}  # or fewer: one tells nothing

_FORMS = {
    "teacher-0-thrice": "counted three times",
    "teacher-100-thrice": "counted three times",
    "teacher-200-thrice": "counted three times",
    "teacher-0-of-50-thrice": "counted three times",
    "teacher-30-of-50-thrice": "counted three times",
    "inputs-in-lockstep": "the generator is seeded by the votes",
}

_REUSE = {
    "one-seed-each-call": SEEDED_IN_CALLS,
    "batch-kept": SEEDED_IN_CALLS,  # of one seed every call begins alike, too
    "seed-from-histogram": "seeded",  # anew in every call, and alike
    "seed-from-clock": SEEDED_ALIKE,
    "eight-bit-seeds": SEEDED_ALIKE,
    "forked-workers": "workers that were forked with one generator",
    "13-bit-seeds": SEEDED_ALIKE,
    "16-bit-seeds": SEEDED_ALIKE,
    "seed-from-milliseconds": SEEDED_ALIKE,
    "one-seed-for-every-histogram": "generators kept for each histogram start from one seed",
    "one-seed-for-each-of-250-votes": "generators kept for each histogram start from one seed",
    "one-seed-for-each-total": "generators kept for each total start from one seed",
    "noise-drawn-at-import": KEPT,
    "frozen-per-histogram": KEPT,
    "one-noise-a-call": "noise is drawn once per call (or",
    "pool-of-64": REUSED,
    "pool-of-1000": REUSED,
    "pool-of-10000": REUSED,
    "single-pool-of-1000": REUSED,
    "block-of-100-tiled": REUSED,
    "block-of-10000-tiled": REUSED,
    "each-noise-twice": "a buffer",
    "every-512th-repeats": "a buffer",
    "half-repeat": "noise is reused",
    "antithetic": "antithetic",
    "autocorrelated": CORRELATED,
    "noise-accumulates": CORRELATED,
    "antithetic-halves": "sign changed",
    "last-call-negated": "noise is kept from one call to the next",
    "systematic": BALANCED,
    "latin-hypercube": BALANCED,
    "antithetic-shuffled": BALANCED,
    "part-of-the-noise-once-a-call": "something is drawn once per call",
    "seed-behind-a-server": "a fixed seed",
    "eight-seeds-in-turn": "few seeds take turns",
    "four-seeds-in-turn": "few seeds take turns",
    "seed-of-the-process-id": "the process id",
    "seed-of-the-process-id-by-command": "the process id",
    "state-saved-every-50-calls": "its state is saved now and then",
    "noise-of-a-hash": "noise seeded by a hash",
    "noise-of-a-hash-kept": "noise seeded by a hash",
}

_LATE = {
    "none-after-5000": f"{NO_NOISE}, from about query",
    "half-after-20000": "half the claimed scale, from about query",
    "half-after-60000": "half the claimed scale, from about query",
    "tenth-less-after-140000": "0.9 of the claimed scale, from about query",
    "none-after-500-calls": f"{NO_NOISE}, from about query",
    "none-among-first-2000": NO_NOISE,
    "one-in-twenty-bare": "the plurality without noise one time in twenty",
}

_OUTPUT = {
    "argmin": "the smallest noisy count",
    "plurality-leaks": "the plurality without noise one time in twenty",
    "uniform-leaks": "a uniform draw one time in twenty",
    "next-label": "class k were numbered k + 1, and class 9 were 0",
    "labels-in-order-of-text": "classes were numbered otherwise, ",
}

_SCREENING = {
    "threshold-tenth-higher": "a threshold of about 2",
    "answers-all": "an answer to every query",
    "screens-without-noise": "none at all",
    "screens-with-half-the-noise": "half the claim",
    "scales-swapped": "the two noise scales swapped",
    "plurality-when-answering": NO_NOISE,
    "one-screening-a-call": "drawn once per call",
}

_SAMPLED = {
    "all-teachers-vote": "the votes of all teachers, of whom none were drawn",
    "the-others-vote": "the teachers who were not drawn, in place of those drawn",
    "noise-of-the-share": "drawn votes scaled up to all teachers",
    "drawn-with-replacement": "teachers drawn with replacement",
    "sampled-once-per-call": "drawn once per call",
    "sampled-once": "the sampled teachers are kept",
    "charged-as-poisson": "as for Poisson sampling",
}

_WEIGHTS = {
    "weights-left-out": "each teacher's vote counted once",
    "weights-squared": "weights applied twice",
    "weights-to-the-mean": "weights divided by their mean",
    "groups-swapped": "weights of the groups in the reverse order",
    "heaviest-charged-as-one": "the published data-independent bound of a teacher of weight 1",
}

_ORDER = {
    "half-in-long-sure-times": "where the running consensus",
    "quarter-on-the-third-with-one-leader": "calls before had the same leader",
    "half-on-the-second-confident-call": "of the teachers, as in the call before",
    "kept-for-near-queries": "a label repeats that of the call before",
    "second-answers-bare": "in call 2 of a histogram",
    "screened-once-in-a-streak": "an answer to every query",
}

_NEIGHBOURS = {
    "one-more-or-less-for-moved-votes": "of one vote more or less",
    "half-of-one-more-or-less": "half of the published",
    "record-of-three-as-of-one": "of one moved vote",
    "record-of-three-metered-as-one": "for one moved vote",
    "textbook-of-moved-votes": "of one vote more or less",
}

_ROUNDING = {
    "counts-cut": "noisy counts made whole numbers (cut",
    "noise-cut-at-15": "noise cut to whole numbers",
    "counts-rounded-at-2": "noisy counts rounded to the nearest whole numbers, the first",
    "floor-for-round": "noisy counts made whole numbers (cut, rounded down",
    "round-for-cut": "noisy counts rounded to the nearest whole numbers, the first",
    "ties-to-last": "the last of equal counts",
    "counts-cut-for-noise": "noisy counts made whole numbers (cut",
}

_OUTCOMES = {
    "realised-screening-unpaid": "nothing for the screening",
    "refusals-free": "nothing for the screening",
    "answer-at-half": "half of the published data-independent bound) for the answer",
    "expected-for-realised": "nothing for the answer",
    "half-beyond-32": "up to order 32, and 0.5 of it beyond",
    "by-votes-for-data-independent": "the charges depend on the votes",
    "forgets-in-mid-run": "the account is not kept",
    "budget-for-each-histogram": "not added up",
    "spent-on-answers-alone": "screenings are not all charged",
}

NAMED: dict[str, str] = {
    **_SCALE,
    **_FAMILIES,
    **_ROUNDING,
    **_CLASSES,
    **_INPUTS,
    **_KINDS,
    **_SUPPORTS,
    **_FORMS,
    **_REUSE,
    **_LATE,
    **_SAMPLED,
    **_WEIGHTS,
    **_ORDER,
    **_OUTPUT,
    **_SCREENING,
    **_NEIGHBOURS,
    **_OUTCOMES,
}

"""Entries of the zoo of tables, and their claims."""

import tomllib
from collections.abc import Callable
from typing import Any

from zoo_entry import Entry, Rng

from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.tables.claim import TablesClaim

GATE = "\n[gate]\nsmallest_effect = 0.1\ntolerance = 0.2\n"
HEAD = 'name = "table"\nadjacency = "add-remove"\n'
BOTH = HEAD + 'max_partitions = 3\nmax_per_partition = 2\nkept = "uniform"\n'
LISTED = 'partitions = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]\n'
THREE = (
    '[mechanism.aggregates]\ncount = {noise = "laplace:18"}\n'
    'privacy-id-count = {noise = "laplace:9"}\n'
    'sum = {noise = "laplace:180", lower = 0.0, upper = 10.0}\n'
)
PUBLIC = BOTH + LISTED + THREE
"""Epsilon 1, divided among three aggregates, of ten public partitions."""

GEOMETRIC = (
    BOTH
    + THREE
    + '[mechanism.selection]\nstrategy = "truncated-geometric"\ncounts = "users"\n'
    + "epsilon = 1.0\ndelta = 1e-5\n"
)
"""Private partitions, as PipelineDP selects them by default."""

RELEASED = (
    BOTH
    + '[mechanism.aggregates]\nprivacy-id-count = {noise = "discrete-laplace:3"}\n'
    + 'count = {noise = "discrete-laplace:6"}\n'
    + '[mechanism.selection]\nstrategy = "threshold"\ncounts = "users"\ndraw = "released"\n'
    + 'threshold = 40.0\ncompare = ">"\n'
)
"""Private partitions whose own noisy count of users exceeds a threshold, of whole noise."""

OWN = (
    BOTH
    + THREE
    + '[mechanism.selection]\nstrategy = "threshold"\ncounts = "users"\nnoise = "laplace:3"\n'
    + 'threshold = 40.0\ncompare = ">="\n'
)

CUT = (
    BOTH
    + LISTED
    + '[mechanism.aggregates]\ncount = {noise = "laplace:2;cut"}\n'
    + 'privacy-id-count = {noise = "laplace:1;cut"}\n'
    + 'sum = {noise = "laplace:20", lower = 0.0, upper = 10.0}\n'
)
"""Counts that are cut to whole numbers; epsilon 9, so that a step is half the noise."""

CUT_KEYS = RELEASED.replace("discrete-", "").replace('"laplace:6"', '"laplace:2;cut"')
CUT_KEYS = CUT_KEYS.replace('"laplace:3"', '"laplace:1;cut"')
"""Private partitions whose own noisy count, once it is cut, exceeds a threshold."""

MEAN = (
    BOTH
    + LISTED
    + (
        '[mechanism.aggregates]\ncount = {noise = "laplace:12"}\n'
        'mean = {noise = "laplace:240", lower = 0.0, upper = 40.0, centre = 20.0}\n'
    )
)
"""Epsilon 1, divided between a count and a sum of values less 20, whose quotient is released."""

ALONE = (
    BOTH
    + LISTED
    + '[mechanism.aggregates]\nmean = {noise = "laplace:240", lower = 0.0, upper = 40.0, '
    + 'centre = 20.0, count_noise = "laplace:12"}\n'
)
"""As MEAN, of which the count is not released."""

VARIANCE = MEAN.replace("laplace:12", "laplace:18").replace("laplace:240", "laplace:360") + (
    'variance = {noise = "laplace:7200", lower = 0.0, upper = 40.0}\n'
)

VECTOR = (
    BOTH
    + LISTED
    + '[mechanism.aggregates]\nvector-sum = {noise = "laplace:18", size = 3, norm = "l1", '
    + 'max_norm = 6.0, norm_of = "partition"}\n'
)
"""Sums of vectors of three numbers, of which a user's has an L1 norm of 6 in each partition."""

OF_USER = (
    HEAD
    + 'kept = "all"\n'
    + LISTED
    + "[mechanism.aggregates]\n"
    + 'count = {noise = "gaussian:10", norm = "l2", max_norm = 3.0, norm_of = "user"}\n'
    + 'sum = {noise = "gaussian:60", lower = 0.0, upper = 10.0, norm = "l2", max_norm = 20.0, '
    + 'norm_of = "user"}\n'
)
"""All rows of a user are kept, and its counts, and its sums, have a norm over all partitions."""

MISSING = 'missing = {user = "dropped", partition = "dropped", value = "dropped"}\n'
UNUSUAL = PUBLIC.replace(LISTED, LISTED + MISSING + "users_as_text = true\n")
"""Rows that lack something are dropped, and users are one whatever their type."""

LARGE = PUBLIC.replace(LISTED, LISTED + "largest_input = 70_000\n")
"""As PUBLIC, of an engine that is asked for 70,000 rows at once."""

UNUSUAL_KEYS = GEOMETRIC.replace(HEAD, HEAD + MISSING)


def entry(name: str, text: str, make: Callable[[Any, Rng], Any], **more: Any) -> Entry:
    """An entry; text: its claim from `[mechanism]` on, but for the gate."""
    return Entry(name, f"[mechanism]\n{text}{GATE}", make, **more)


def claimed(text: str) -> TablesClaim:
    """The claim of an entry with this text."""
    claim: TablesClaim = parse_claim(tomllib.loads(f"[mechanism]\n{text}{GATE}"))
    return claim


def name_of(made: Any) -> str:
    """The name of a class, as a sentence would have it."""
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in made.__name__)
    return words.strip()

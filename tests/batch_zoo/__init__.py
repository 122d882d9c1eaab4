"""Samplers, wrong and right ones: each with its claim, and the checks of which one must find it."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from zoo_entry import Entry

from dpassay.reference.batches import BatchDraws, Batches

RECORDS, RATE, SIZE = 2_000, 0.02, 40
POISSON, FIXED, SHUFFLE = f"poisson:{RATE}", f"fixed:{SIZE}", f"shuffle:{SIZE}"

Numbers = NDArray[np.int64]
Made = Iterator[Numbers]
Rng = np.random.Generator


def entry(
    name: str,
    sampling: str,
    made: Callable[[Rng], Made],
    caught: tuple[str, ...] = (),
    within: int = 0,
    code: str = "",
    records: int = RECORDS,
) -> Entry:
    """A sampler and what it claims."""
    text = f'[mechanism]\nname = "batches"\nsampling = "{sampling}"\nrecords = {records}\n'
    return Entry(name, text, lambda claim, rng: made(rng), caught, code, within=within)


def law(sampling: str, records: int = RECORDS) -> Callable[[Rng], Made]:
    """The batches of a law."""
    return Batches.parse(sampling, records).drawn


def counted(rng: Rng) -> Made:
    """A binomial number of records, drawn without replacement: Poisson sampling too."""
    while True:
        yield rng.choice(RECORDS, rng.binomial(RECORDS, RATE), replace=False)


def rated(rates: Callable[[int], float | NDArray[np.float64]]) -> Callable[[Rng], Made]:
    """Poisson sampling with the rates of each step."""

    def made(rng: Rng) -> Made:
        step = 0
        while True:
            yield np.flatnonzero(rng.random(RECORDS) < rates(step))
            step += 1

    return made


def epochs(rng: Rng) -> Made:
    """Epochs in a new order each, cut into batches of binomial sizes."""
    while True:
        order = rng.permutation(RECORDS)
        while order.size:
            size = min(order.size, rng.binomial(RECORDS, RATE))
            yield order[:size]
            order = order[size:]


def truncated(rng: Rng) -> Made:
    """Poisson batches, of which no more than 48 records are kept."""
    return (rng.permutation(batch)[:48] for batch in law(POISSON)(rng))


def kept_if(fits: Callable[[int], bool], records: int = RECORDS) -> Callable[[Rng], Made]:
    """Poisson batches, drawn again until their size fits."""

    def made(rng: Rng) -> Made:
        return (batch for batch in law(POISSON, records)(rng) if fits(len(batch)))

    return made


def replaced(rng: Rng) -> Made:
    """As many records as the claim says, each drawn from all."""
    while True:
        yield rng.integers(0, RECORDS, SIZE)


def reseeded(sampling: str) -> Callable[[Rng], Made]:
    """A generator that is set anew for each epoch."""

    def made(rng: Rng) -> Made:
        seed = int(rng.integers(2**32))
        while True:
            batches = law(sampling)(np.random.default_rng(seed))
            yield from (next(batches) for _ in range(RECORDS // SIZE))

    return made


def dropped(rng: Rng) -> Made:
    """Shuffled epochs without their last batch, which is a whole one."""
    while True:
        yield from np.split(rng.permutation(RECORDS), RECORDS // SIZE)[:-1]


def twice(rng: Rng) -> Made:
    """Each hundredth Poisson batch comes twice."""
    for step, batch in enumerate(law(POISSON)(rng)):
        yield batch
        if step % 100 == 99:
            yield batch


def favoured(rng: Rng) -> Made:
    """Twelve records in the midst, three times as often as others."""
    rates = np.full(RECORDS, RATE)
    rates[rng.choice(np.arange(9, RECORDS - 9), 12, replace=False)] *= 3.0
    while True:
        yield np.flatnonzero(rng.random(RECORDS) < rates)


def impatient(rng: Rng) -> Made:
    """Who was not drawn for 300 steps is drawn for certain, of a sampler that has run for long."""
    waited = rng.geometric(RATE, RECORDS) % 300
    while True:
        chosen = (rng.random(RECORDS) < RATE) | (waited >= 300)
        waited = np.where(chosen, 0, waited + 1)
        yield np.flatnonzero(chosen)


def paired(rng: Rng) -> Made:
    """The last record is in the batches of the first."""
    for batch in law(POISSON)(rng):
        member = np.zeros(RECORDS, dtype=np.bool_)
        member[batch] = True
        member[-1] = member[0]
        yield np.flatnonzero(member)


def blocks(rng: Rng) -> Made:
    """Fixed batches of ten blocks of four records each."""
    while True:
        starts = 4 * rng.choice(RECORDS // 4, SIZE // 4, replace=False)
        yield (starts[:, None] + np.arange(4)).ravel()


def buffered(rng: Rng) -> Made:
    """Epochs that are shuffled by a buffer of 400 records, as streams of data are."""
    while True:
        order, held = [], list(range(400))
        for record in [*range(400, RECORDS), *([-1] * 400)]:
            place = int(rng.integers(len(held)))
            order.append(held[place])
            held[place] = record if record >= 0 else held[-1]
            if record < 0:
                held.pop()
        yield from np.split(np.array(order), RECORDS // SIZE)


def stratified(rng: Rng) -> Made:
    """Half of each batch from the first half of the records."""
    half = RECORDS // 2
    while True:
        of = [rng.choice(half, SIZE // 2, replace=False) for _ in range(2)]
        yield np.concatenate([of[0], half + of[1]])


def cyclic(rng: Rng) -> Made:
    """Two groups of records in turn, each at twice the rate."""
    group = rng.random(RECORDS) < 0.5
    return rated(lambda step: 2.0 * RATE * (group == (step % 2 == 0)))(rng)


def binned(rng: Rng) -> Made:
    """Each record is in one random batch of each 50, the same ones every time."""
    bins = rng.integers(0, RECORDS // SIZE, RECORDS)
    while True:
        yield from (np.flatnonzero(bins == place) for place in range(RECORDS // SIZE))


def gapped(rng: Rng) -> Made:
    """Poisson batches by the gaps between their records; what lies beyond the data is left out."""
    while True:
        places = np.cumsum(rng.geometric(RATE, RECORDS // 10)) - 1
        yield places[places < RECORDS]


def second_too(rng: Rng) -> Made:
    """Every fourth Poisson batch has the second record too, as one is left over at the front."""
    for step, batch in enumerate(law(POISSON)(rng)):
        yield np.union1d(batch, [1]) if step % 4 == 0 else batch


def never_last(rng: Rng) -> Made:
    """A range that ends one too early: the last record is in no batch."""
    for batch in law(POISSON)(rng):
        yield batch[batch < RECORDS - 1]


def _never(rng: Rng) -> Made:
    out = rng.permutation(RECORDS) < RECORDS // 50
    rates = np.where(out, 0.0, RATE * RECORDS / (RECORDS - RECORDS // 50))
    return rated(lambda step: rates)(rng)


def _weighted(rng: Rng) -> Made:
    rates = RATE * np.where(rng.random(RECORDS) < 0.5, 1.4, 0.6)
    return rated(lambda step: rates)(rng)


def _drifting(step: int) -> float:
    return RATE * (1.0 + step / 2_000)


SIZES, FEW = ("batch-size",), ("inclusion",)
DEPENDENT = ("independence",)
BROKEN = (
    entry(
        "shuffled epochs, claimed as Poisson",
        POISSON,
        law(SHUFFLE),
        SIZES + DEPENDENT,
        20,
        "batch-size-fixed",
    ),
    entry(
        "shuffled epochs, of binomial sizes", POISSON, epochs, DEPENDENT, 30, "shuffled-not-sampled"
    ),
    entry(
        "shuffled epochs, claimed as fixed",
        FIXED,
        law(SHUFFLE),
        DEPENDENT,
        20,
        "shuffled-not-sampled",
    ),
    entry("a fixed size, claimed as Poisson", POISSON, law(FIXED), SIZES, 20, "batch-size-fixed"),
    entry("Poisson, claimed as fixed", FIXED, law(POISSON), SIZES, 5, "batch-size-differs"),
    entry("with replacement", FIXED, replaced, ("repeats",), 50, "drawn-with-replacement"),
    entry("batches cut at 48", POISSON, truncated, SIZES, 700, "batch-sizes-repeat"),
    entry(
        "small batches drawn again",
        POISSON,
        kept_if(lambda size: size >= 4, 475),
        SIZES,
        2_000,
        "batch-sizes-missing",
        records=475,
    ),
    entry(
        "large batches drawn again",
        POISSON,
        kept_if(lambda size: size <= 53),
        SIZES,
        2_000,
        "batch-sizes-missing",
    ),
    entry(
        "sizes of whole tens",
        POISSON,
        kept_if(lambda size: size % 10 == 0),
        SIZES,
        20,
        "batch-sizes-missing",
    ),
    entry(
        "a rate of 1.1 times",
        POISSON,
        rated(lambda step: 1.1 * RATE),
        SIZES,
        300,
        "sampling-rate-differs",
    ),
    entry("a rate that drifts", POISSON, rated(_drifting), SIZES, 500, "sampling-rate-drifts"),
    entry("one in 50 never drawn", POISSON, _never, FEW, 400, "records-never-drawn"),
    entry("weights of 0.6 and 1.4", POISSON, _weighted, FEW, 250),
    entry("a seed for each epoch", POISSON, reseeded(POISSON), DEPENDENT, 52, "batch-repeated"),
    entry("one order for all epochs", SHUFFLE, reseeded(SHUFFLE), DEPENDENT, 52, "batch-repeated"),
    entry("the last batch dropped", SHUFFLE, dropped, ("coverage",), 50, "record-again-in-epoch"),
    entry("a batch twice in a hundred", POISSON, twice, DEPENDENT, 103, "batch-repeated"),
    entry("two records together", POISSON, paired, DEPENDENT, 1_200, "records-come-together"),
    entry("blocks of four records", FIXED, blocks, DEPENDENT, 10, "neighbours-come-together"),
    entry(
        "a buffer in place of a shuffle",
        SHUFFLE,
        buffered,
        FEW + DEPENDENT,
        5,
        "draws-follow-numbers",
    ),
    entry("the second record too", POISSON, second_too, FEW, 150, "end-record-rate-differs"),
    entry("never the last record", POISSON, never_last, FEW, 1_500, "end-record-rate-differs"),
    entry("twelve records at thrice the rate", POISSON, favoured, FEW, 900),
    entry("no wait over 300", POISSON, impatient, DEPENDENT, 1_500, "waits-cut-short"),
    entry("halves of each batch", FIXED, stratified, FEW, 60, "draws-follow-numbers"),
    entry("two groups in turn", POISSON, cyclic, DEPENDENT, 60, "shuffled-not-sampled"),
    entry("bins that come again", POISSON, binned, DEPENDENT, 20, "shuffled-not-sampled"),
)
CORRECT = (
    entry("Poisson", POISSON, law(POISSON)),
    entry("Poisson, as a binomial number", POISSON, counted),
    entry("Poisson, by gaps", POISSON, gapped),
    entry("fixed", FIXED, law(FIXED)),
    entry("shuffled", SHUFFLE, law(SHUFFLE)),
    entry("shuffled, with a short last batch", "shuffle:37", law("shuffle:37", 500), records=500),
    entry("Poisson, half of few records", "poisson:0.5", law("poisson:0.5", 60), records=60),
)
assert all(one.claim.mechanism.batches.how in BatchDraws for one in BROKEN)

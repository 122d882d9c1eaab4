"""Batches: how a sampler seems to draw them."""

import numpy as np

from .asking import Asker
from .draft import Draft, Key, Known

_BATCHES = 30


def known_batches(asker: Asker) -> Known:
    """A sampler, as its batches tell."""
    draft = draft_batches()
    drawn: list[list[int]] = []

    def gather() -> None:
        while len(drawn) < _BATCHES:
            batch = asker.ask("batches", None, 1)[0]
            if batch is None:
                break
            drawn.append(batch)

    def fill() -> None:
        draft.asked.append(f"{len(drawn)} batches")
        if not drawn or not all(isinstance(i, int) for batch in drawn for i in batch):
            return
        records = max(max(batch, default=0) for batch in drawn) + 1
        sizes = {len(batch) for batch in drawn}
        size, seen = max(sizes), list[int]()
        epoch = drawn[: max(records // size, 1)]
        for batch in epoch:
            seen += batch
        law = f"fixed:{size}" if len(set(seen)) < len(seen) else f"shuffle:{size}"
        if len(sizes) > 2:
            law = f"poisson:{np.mean([len(batch) for batch in drawn]) / records:.3g}"
        draft.keys[1:] = [
            Key("sampling", None, "", f'by {len(drawn)} batches: "{law}"'),
            Key("records", None, "", f"the largest number that came, and one: {records:,}"),
        ]

    return Known(draft, gather, fill)


def draft_batches() -> Draft:
    """A draft of a sampler."""
    return Draft(
        "batches of records",
        "batches",
        [
            Key("name", "batches", "read: it takes no input"),
            Key("sampling", None, "poisson:Q, fixed:B or shuffle:B"),
            Key("records", None, "how many are there?"),
        ],
    )

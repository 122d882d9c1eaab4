"""The reference of an engine as `dpassay serve` answers for it."""

from typing import Any

import numpy as np

from ....reference.tables import Rows
from ...targets.frames import whole_rows
from ...targets.replies import shown
from ..numbers.served import ServedNumbers
from .claim import TablesClaim


class ServedTable(ServedNumbers):
    """With [privacy] in the claim it gives as many releases as `queries` says."""

    takes = "rows"

    def __init__(self, claim: TablesClaim) -> None:
        super().__init__(claim)  # type: ignore[arg-type]
        self._cells = {key: place for place, key in enumerate(claim.keys)}
        self._claim = claim

    def drawn(self, values: Any, size: int) -> list[Any]:
        """Tables."""
        table = self._claim.mechanism.table
        found = table.sample(values, len(self._claim.keys), size)
        return self._claim.release.tables(found.reshape(size, -1))

    def input(self, given: Any) -> Rows:
        """Rows of a user, a partition and a value."""
        try:
            mechanism = self._claim.mechanism
            listed = mechanism.partitions is not None
            rows = whole_rows(given, self._cells, mechanism.missing.parts, listed=listed)
        except (TypeError, ValueError, OverflowError, KeyError):
            rows = None
        infinite = "value" in self._claim.mechanism.missing.parts
        size = self._claim.mechanism.vector_size
        if rows is not None and len(rows) and rows.values.shape[1:] != ((size,) if size else ()):
            rows = None
        if rows is None or not (infinite or np.isfinite(rows.values).all()):
            value = f"a list of {size} numbers" if size else "a number"
            partitions = f"{len(self._cells)} partitions such as {next(iter(self._cells))!r}"
            raise ValueError(
                f"rows {shown(given)}: expected a list of [user, partition, value], a whole "
                f"number, one of {partitions}, and {value}"
            )
        return rows

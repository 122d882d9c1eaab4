"""Masks that do not cancel are told as that by every check, and a small modulus is not."""

from typing import Any

import numpy as np
import pytest
from tally_zoo import BROKEN
from tally_zoo.masks import using
from tally_zoo.shelf import FIVE, entry

from dpassay.reference.secure_aggregation import Party
from dpassay.reference.secure_aggregation.masks import plus
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.run.run import verify


class AddsTwice(Party):
    """The second party adds its mask with the third one twice."""

    def masked(self, values: Any) -> Any:
        usual = super().masked(values)
        if self.number != 2:
            return usual
        return plus(usual, self.pair_mask(3, np.asarray(values).size), self.modulus)


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize("all_stay", [False, True])
def test_masks_that_never_cancel(all_stay: bool) -> None:
    """Three causes were named: the modulus, parties that leave, and none that describes it."""
    stay = FIVE.replace("quorum = 4", "quorum = 5").replace("5/4", "5/5")
    one = entry("", stay if all_stay else FIVE, using(party=AddsTwice))
    report = verify(one.target(1, 99), one.claim, seed=1)
    failed = [check for check in report.checks if check.verdict is Verdict.FAIL]
    assert {check.code for check in failed} == {"masks-not-cancelled"}, failed
    assert len(failed) >= 2


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize(
    "name",
    ["signs-do-not-cancel", *(one.name for one in BROKEN if one.code == "modulus-too-small")],
)
def test_neighbours_keep_their_causes(name: str) -> None:
    one = next(one for one in BROKEN if one.name == name)
    report = verify(one.target(1, 99), one.claim, seed=1)
    failed = [check for check in report.checks if check.verdict is Verdict.FAIL]
    told = next(check for check in failed if check.id in one.caught)
    assert one.tells(told.code, told.fields), told
    if name == "signs-do-not-cancel":
        assert told.diagnosis is not None
        assert told.diagnosis.startswith("masks do not cancel once a party has left")

"""The page on noise: its table is what its own code prints."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "noise.md"


@pytest.mark.slow("searches the best scale of two histograms")
def test_the_table_is_what_the_code_beside_it_prints() -> None:
    """To the last digit but one: catches a table that a change of the attack has made stale."""
    text = PAGE.read_text()
    code = re.search(r"^```python\n(.*?)^```", text, re.S | re.M)
    assert code is not None
    with redirect_stdout(io.StringIO()) as printed:
        exec(code.group(1), {})
    *rows, best = printed.getvalue().splitlines()
    cells = r"^\| {} \| ([\d.]+) \| ([\d.]+) \|$"
    for row in rows:
        sigma, *errors = row.split()
        told = re.search(cells.format(sigma), text, re.M)
        assert told is not None, sigma
        figures = [float(error) for error in errors]
        assert [float(one) for one in told.groups()] == pytest.approx(figures, abs=0.002)
    scales = re.search(r"^\|.*from 20.*\D(\d+) \|\D*(\d+) \|$", text, re.M)
    assert scales is not None
    assert [int(s) for s in scales.groups()] == pytest.approx(list(map(int, best.split())), abs=1)

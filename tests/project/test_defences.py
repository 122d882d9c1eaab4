"""The page of defences quotes figures of pages that benchmarks write."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "explanation"
QUOTED = re.findall(
    r"\[([\d.,]+(?: %)?)\]\((\.\./results/[\w-]+\.md)\)", (FOLDER / "defences.md").read_text()
)


def test_there_are_figures() -> None:
    assert len(QUOTED) > 15


@pytest.mark.parametrize(("figure", "page"), QUOTED)
def test_a_figure_stands_on_the_page_that_it_is_read_from(figure, page) -> None:
    """Catches a figure that was typed wrong, and one that a new run of a benchmark has changed."""
    text = (FOLDER / page).resolve().read_text()
    assert re.search(rf"(?<![\d.,]){re.escape(figure)}(?![\d]|[.,]\d)", text)

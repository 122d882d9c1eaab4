"""The page of defences quotes figures of pages that benchmarks write."""

import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "explanation"
QUOTED = re.findall(
    r"\[([\d.,]+(?: %)?)\]\((\.\./results/[\w-]+\.md)\)", (FOLDER / "defences.md").read_text()
)


def test_there_are_figures() -> None:
    assert len(QUOTED) > 15


def stands_on(figure: str, text: str) -> bool:
    """Whether a figure stands in a text, and not only within a longer one."""
    return re.search(rf"(?<![\d.,]){re.escape(figure)}(?![\d]|[.,]\d)", text) is not None


def test_a_figure_stands_on_the_page_that_it_is_read_from() -> None:
    """Catches a figure that was typed wrong, and one that a new run of a benchmark has changed."""
    texts = {page: (FOLDER / page).resolve().read_text() for _, page in QUOTED}
    assert [quoted for quoted in QUOTED if not stands_on(quoted[0], texts[quoted[1]])] == []

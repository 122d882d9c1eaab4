"""What a prompt may hold, and the text that a language model reads of it."""

import re
from dataclasses import replace

import numpy as np
import pytest

from dpassay.attacks.private_prediction.prompting.adversaries import all_same
from dpassay.attacks.private_prediction.prompting.prompts import Prompt, rendered

NAMES = ("harbour", "kitchen", "meadow")
TOPIC = "the place that a note was written in"
PLAIN = Prompt(TOPIC, NAMES, (("boats came in at dawn", 0), ("flour on the table", 1)))
VECTOR = np.array([1.0, 2.0])


def test_a_rendered_prompt_holds_names_examples_and_query_once_and_in_order() -> None:
    """Catches examples turned round, a label list off by one, and a query that is asked twice."""
    text = rendered(PLAIN, "the sheep lay down")
    lines = text.splitlines()
    assert [line for line in lines if " = " in line] == ["0 = harbour", "1 = kitchen", "2 = meadow"]
    assert [line for line in lines if line.startswith(("Text:", "Number:"))] == [
        "Text: boats came in at dawn",
        "Number: 0",
        "Text: flour on the table",
        "Number: 1",
        "Text: the sheep lay down",
        "Number:",
    ]
    assert text.count("the sheep lay down") == 1
    assert text.endswith("Number:")
    assert text.count(TOPIC) == 1


def test_a_mapping_changes_the_numbers_of_names_and_examples_alike() -> None:
    """Catches an example that keeps its own number, and a mapping read the other way round."""
    lines = rendered(replace(PLAIN, mapping=(2, 0, 2)), "x").splitlines()
    assert [line for line in lines if " = " in line] == ["2 = harbour", "0 = kitchen", "2 = meadow"]
    assert [line for line in lines if line.startswith("Number: ")] == ["Number: 2", "Number: 0"]


def test_a_prompt_that_demands_a_number_shows_no_task_and_no_example() -> None:
    text = rendered(all_same(PLAIN, 1), "the sheep lay down")
    assert not any(part in text for part in (TOPIC, *NAMES, "boats", "flour", "0", "2"))
    assert "1" in text
    assert text.endswith("Text: the sheep lay down\nNumber:")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": " "}, "task ' ': expected what is decided, as text"),
        ({"names": ("one",)}, "names ('one',): expected a tuple of two or more"),
        ({"names": "ab"}, "names 'ab': expected a tuple of two or more"),
        ({"names": ("a", "b", "a")}, "name 2, 'a': expected another one for each class"),
        ({"names": ("a", "", "b")}, "name 1, '': expected text"),
        (
            {"examples": (("x", 0), ("y", 3))},
            "label of example 1, 3: expected a whole number from 0 to 2",
        ),
        ({"always": -1}, "always -1: expected a whole number from 0 to 2"),
        ({"always": True}, "always True: expected a whole number from 0 to 2"),
        ({"always": 1.0}, "always 1.0: expected a whole number from 0 to 2"),
        ({"mapping": (0, 1)}, "mapping (0, 1): expected a number for each of 3 classes"),
        ({"mapping": (0, 3, 1)}, "mapping of class 1, 3: expected a whole number from 0 to 2"),
        (
            {"always": 1, "mapping": (0, 1, 2)},
            "always and mapping: expected one of the two, as the first hides both",
        ),
    ],
)
def test_a_bad_prompt_is_refused_in_one_line(change, message) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        replace(PLAIN, **change)


def test_what_is_no_text_is_not_rendered() -> None:
    with pytest.raises(ValueError, match=r"^query .*ndarray: "):
        rendered(PLAIN, VECTOR)
    with pytest.raises(ValueError, match=r"^example 0 .*ndarray: "):
        rendered(Prompt(TOPIC, NAMES, ((VECTOR, 0),)), "x")

"""The published schema of claims: all that is a claim is valid under it, mistakes are not."""

import json
import re
import tomllib
from pathlib import Path

import batch_zoo
import jsonschema
import numeric_zoo
import pytest
import table_zoo
import tally_zoo
from claims import KEYS, gnmax, histogram
from documents import schema_of
from typed import assert_misuse, typed

from dpassay.verifiers.cli.configuration import Configuration
from dpassay.verifiers.demos import BROKEN
from dpassay.verifiers.kinds import kinds
from dpassay.verifiers.schemas import NAMES

ROOT = Path(__file__).parents[2]
VALIDATOR = jsonschema.Draft202012Validator(schema_of("claim"))
OF_CONFIGURATION = jsonschema.Draft202012Validator(schema_of("configuration"))
PAIR = {"here": 1, "there": 2}
ANY = {"mechanism": {"name": "any"}, "pairs": [PAIR], "privacy": {"epsilon": 1, "delta": 0}}

SAME = {"name": "same-as", "reference": "old.py:aggregate"}


def complaints(claim):
    return [error.message for error in VALIDATOR.iter_errors(claim)]


def written() -> dict[str, str]:
    """Claims as they stand on pages, beside benchmarks, in demos and in the zoos, by a name."""
    found = {
        f"{page.name} {number}": block
        for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))
        for number, block in enumerate(re.findall(r"^```toml\n(.*?)^```", page.read_text(), 24))
    }
    found |= {path.name: path.read_text() for path in ROOT.glob("benchmarks/field*/calls/*.toml")}
    found |= {name: broken.claim for name, broken in BROKEN.items()}
    found |= {name: text for kind in kinds() for name, text in kind.demos.items()}
    for zoo in (numeric_zoo, table_zoo, tally_zoo, batch_zoo):
        found |= {entry.name: entry.claim_text for entry in (*zoo.BROKEN, *zoo.CORRECT)}
    return found


@pytest.mark.slow("over half a second")
def test_every_claim_that_stands_somewhere_is_valid() -> None:
    """Of a page a fragment stands for the same with a [mechanism]; a configuration is none."""
    tables = {name: tomllib.loads(text) for name, text in written().items()}
    named = {t["mechanism"]["name"] for t in tables.values() if "mechanism" in t}
    assert named == {name for kind in kinds() for name in kind.mechanisms}
    of_claims = {n: t for n, t in tables.items() if not {*t} & {"targets", "profiles", "tool"}}
    wrong = {n: complaints({"mechanism": gnmax()} | t) for n, t in of_claims.items()}
    assert {name: found for name, found in wrong.items() if found} == {}


@pytest.mark.parametrize(
    "claim",
    [
        {"mechanism": histogram() | {"l1_clip_norm": 1.0}},
        {**ANY, "pairs": "pairs.csv"},
        {"mechanism": SAME | {"inputs_of": "gnmax", "teachers": 20, "classes": 3}},
        {"mechanism": SAME | {"inputs_of": "gnmax"}, "inputs": {"form": "votes"}},
        {**ANY, "pairs": [{"here_file": "a.csv", "there": 3, "name": "one"}]},
        {**ANY, "privacy": {"gdp": 1.0}},
        {**ANY, "privacy": {"curve": "curve.csv"}},
        {**ANY, "privacy": {"guarantees": [[1.0, 0.1]]}, "control": [PAIR | {"distance": 3}]},
    ],
)
def test_other_forms_of_a_claim_are_valid(claim) -> None:
    assert complaints(claim) == []


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ({"mechanism": gnmax() | {"clases": 4}}, "'clases' was unexpected"),
        ({"mechanism": histogram() | {"classes": 4}}, "'classes' was unexpected"),
        ({"mechanism": gnmax(), "gates": {}}, "'gates' was unexpected"),
        ({"mechanism": gnmax(), "gate": {"tolerance": 2}}, "2 is greater than"),
        ({"mechanism": gnmax() | {"noise": "normal:4"}}, "'normal:4' does not match"),
        ({"mechanism": KEYS | {"threshold": "6"}}, "'6' is not of type 'number'"),
        ({"mechanism": {"name": "noisy-count", "noise": "laplace:2"}}, "'adjacency' is a required"),
        ({"mechanism": {**histogram(), "name": "noisy-mean"}}, "'divide_by' is a required"),
        ({"mechanism": gnmax() | {"name": "pate"}}, "'pate' is not one of"),
        ({"mechanism": {"noise": "laplace:2"}}, "'name' is a required"),
        ({"gate": {}}, "'mechanism' is a required"),
        ({"mechanism": SAME | {"teachers": 20}}, "'teachers' was unexpected"),
        ({**ANY, "privacy": {"delta": 0.0}}, "'epsilon' is a required"),
        ({**ANY, "pairs": [{"here": 1}]}, "is not valid under any"),
    ],
)
def test_a_mistake_is_told_once_and_as_such(claim, words) -> None:
    """Catches a schema that allows anything, and one that lists the complaints of all kinds."""
    found = complaints(claim)
    assert len([one for one in found if words in one]) == 1, found
    assert len(found) <= 2 + ("divide_by" in words), found


CONFIGURATION = """
[targets.votes]
target = "agg.py:fair"
claim = "votes.toml"
{0}
[profiles.quick]
{0}
"""


@pytest.mark.parametrize(
    "option",
    ["queries = 20", "max-queries = 20", "max_queries = 20", 'skip = ["order"]', "strict = true"],
)
def test_a_configuration_that_can_be_read_is_valid(tmp_path, option) -> None:
    """Catches a schema that knows one spelling of a key alone."""
    file = tmp_path / "dpassay.toml"
    file.write_text(CONFIGURATION.format(option))
    assert Configuration.read(file) is not None
    assert list(OF_CONFIGURATION.iter_errors(tomllib.loads(file.read_text()))) == []


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"targets": {"votes": {"target": "agg.py:fair"}}}, "'claim' is a required"),
        ({"profiles": {"quick": {"querys": 3}}}, "'querys' was unexpected"),
        ({"profiles": {"quick": {"max-seconds": 0}}}, "0 is less than or equal"),
        ({"target": {}}, "'target' was unexpected"),
    ],
)
def test_a_mistake_of_a_configuration_is_told(table, words) -> None:
    """Catches a schema that allows anything."""
    (found,) = OF_CONFIGURATION.iter_errors(table)
    assert words in found.message


def test_the_command_prints_what_is_published() -> None:
    for name in NAMES:
        assert json.loads(typed("schema", name).stdout) is not None
    assert json.loads(typed("schema", "claim").stdout) == schema_of("claim")
    assert_misuse(typed("schema", "clam"), "(did you mean claim?)", "report", "[value-not-allowed]")

"""The published schema holds for real reports and refuses wrong ones."""

import copy
import json
from importlib.resources import files

import jsonschema
import pytest

SCHEMA = json.loads(files("dpassay.verifiers").joinpath("report.schema.json").read_text())


def complaints(report):
    validator = jsonschema.Draft202012Validator(SCHEMA)
    return [error.message for error in validator.iter_errors(report)]


@pytest.fixture
def failed(reports):
    return json.loads(json.dumps(reports["fail"].as_json()))


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "kind", ["pass", "fail", "error", "inconclusive", "interrupted", "refusing", "costly"]
)
def test_real_reports_are_valid(reports, kind):
    assert complaints(json.loads(json.dumps(reports[kind].as_json()))) == []


def test_every_key_of_a_report_is_required(failed):
    """Catches a key that the schema has forgotten, or does not demand."""
    assert set(SCHEMA["required"]) == set(failed)
    assert set(SCHEMA["$defs"]["check"]["required"]) == set(failed["checks"][0])
    for key in failed:
        assert complaints({k: v for k, v in failed.items() if k != key})
    for key in failed["checks"][0]:
        less = copy.deepcopy(failed)
        del less["checks"][1][key]
        assert complaints(less)


def test_later_versions_may_add_keys_and_checks(failed):
    failed["extra"] = 1
    failed["checks"][0]["extra"] = {"a": 1}
    failed["checks"][0]["id"] = "quite-new"
    assert complaints(failed) == []


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (("verdict",), "failed"),
        (("verdict",), "not-applicable"),
        (("verdict",), "pass"),
        (("verdict",), "inconclusive"),
        (("queries",), -1),
        (("queries",), 1.5),
        (("seed",), None),
        (("false_alarm",), 0),
        (("warnings",), "none"),
        (("versions",), {"dpassay": "1"}),
        (("opening",), [0, 1]),
        (("opening", "labels"), []),
        (("opening", "labels"), [-2]),
        (("opening", "histogram"), [1, -1]),
        (("claim", "mechanism"), None),
        (("claim", "mechanism", "noise"), "40"),
        (("checks",), []),
        (("checks", 0, "id"), "Class probabilities"),
        (("checks", 0, "verdict"), "skipped"),
        (("checks", 1, "histogram"), [1, -1]),
        (("checks", 1, "histogram"), "1,2"),
        (("checks", 1, "log10_e_value"), "9.4"),
        (("checks", 1, "threshold_log10"), 0),
        (("checks", 1, "message"), ""),
        (("checks", 1, "diagnosis"), 3),
    ],
)
def test_wrong_reports_are_refused(failed, place, wrong):
    *way, last = place
    held = failed
    for key in way:
        held = held[key]
    held[last] = wrong
    assert complaints(failed)

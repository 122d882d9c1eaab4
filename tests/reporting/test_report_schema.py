"""The published schema holds for real reports and refuses wrong ones."""

import copy
import json
from collections import ChainMap
from importlib.resources import files

import jsonschema
import pytest

SCHEMA = json.loads(files("dpassay.verifiers.schemas").joinpath("report.json").read_text())


def complaints(report):
    validator = jsonschema.Draft202012Validator(SCHEMA)
    return [error.message for error in validator.iter_errors(report)]


@pytest.fixture
def failed(reports):
    return json.loads(json.dumps(reports["fail"].public()))


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "kind", ["pass", "fail", "far", "error", "inconclusive", "interrupted", "refusing", "costly"]
)
def test_real_reports_are_valid(reports, kind) -> None:
    """They are JSON: no NaN and no infinity, which an interval without an upper end would give."""
    assert complaints(json.loads(json.dumps(reports[kind].public(), allow_nan=False))) == []


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("kind", ["numbers", "clamped", "half", "bare", "raising", "keys", "every"])
def test_real_reports_of_numbers_are_valid(number_reports, kind) -> None:
    """They list every check, those that do not apply with the reason."""
    public = json.loads(json.dumps(number_reports[kind].public(), allow_nan=False))
    assert complaints(public) == []
    found = {check["id"]: check for check in public["checks"]}
    of_keys = kind in ("keys", "every")
    assert found["noise-law"]["verdict"] != "not-applicable" or of_keys
    assert (found["partition-release"]["verdict"] == "not-applicable") is not of_keys
    for check in public["checks"]:
        if check["verdict"] == "fail" and check["threshold_log10"] is not None:
            assert check["log10_e_value"] >= check["threshold_log10"]


@pytest.mark.slow("over half a second")
def test_every_key_of_a_report_is_required(failed) -> None:
    """Catches a key that the schema has forgotten, or does not demand."""
    assert set(SCHEMA["required"]) == set(failed)
    assert set(SCHEMA["$defs"]["CheckResult"]["required"]) == set(failed["checks"][0])
    for key in failed:
        assert complaints({k: v for k, v in failed.items() if k != key})
    for key in failed["checks"][0]:
        less = copy.deepcopy(failed)
        del less["checks"][1][key]
        assert complaints(less)


@pytest.mark.parametrize(
    ("kind", "check", "way", "name"),
    [
        ("fail", "class-probabilities", ("histograms", 0), "AskedHistogram"),
        ("fail", "class-probabilities", ("histograms", 0, "labels", 0), "LabelShare"),
        ("pass", "noise-scale", ("scale",), "ScaleTrace"),
        ("pass", "histogram-leakage", ("leakage",), "Leakage"),
        ("costly", "privacy-claim", ("cost",), "PrivacyCost"),
        ("half", "noise-law", ("noise",), "NoiseShape"),
        ("half", "noise-law", ("noise", "quantiles", 0), "NoiseQuantile"),
        ("keys", "partition-release", ("rates", 0), "KeyRate"),
    ],
)
@pytest.mark.quick_cases(2)
def test_every_key_of_a_figure_is_required(reports, number_reports, kind, check, way, name) -> None:
    """Catches a figure that the schema has forgotten, or does not demand."""
    public = json.loads(json.dumps(ChainMap(reports, number_reports)[kind].public()))
    held = next(found for found in public["checks"] if found["id"] == check)["figures"]
    for key in way:
        held = held[key]
    assert set(SCHEMA["$defs"][name]["required"]) == set(held)
    assert set(SCHEMA["$defs"][name]["properties"]) == set(held)
    for key in list(held):
        kept = held.pop(key)
        assert complaints(public)
        held[key] = kept
    assert not complaints(public)


def test_later_versions_may_add_keys_and_checks(failed) -> None:
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
        (("target",), 3),
        (("started",), "2026-07-28 12:00:00"),
        (("ended",), "yesterday"),
        (("checks", 1, "figures"), {}),
        (("checks", 1, "figures"), []),
        (("checks", 1, "figures", "evidence", 0), [1]),
        (("checks", 1, "figures", "evidence", 0, 1), "beyond"),
        (("checks", 1, "figures", "histograms", 0, "labels", 0, "label"), -2),
        (("checks", 1, "figures", "histograms", 0, "labels", 0, "count"), 0.5),
        (("checks", 1, "figures", "histograms", 0, "labels", 0, "interval"), [0.1]),
        (("checks", 1, "figures", "histograms", 0, "labels", 0, "expected"), 1.5),
        (("checks", 2, "figures", "scale", "points", 0), [1, 2.0]),
        (("checks", 2, "figures", "scale", "claimed"), None),
    ],
)
def test_wrong_reports_are_refused(failed, place, wrong) -> None:
    *way, last = place
    held = failed
    for key in way:
        held = held[key]
    held[last] = wrong
    assert complaints(failed)

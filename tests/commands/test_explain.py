"""`dpassay explain`: what a code means and how it is mended, the same as on the site."""

import pytest
from click.testing import CliRunner

from dpassay.verifiers.commands.explain import explain
from dpassay.verifiers.findings.codes import codes
from dpassay.verifiers.findings.fixes import explained, fixes, nearest
from dpassay.verifiers.findings.note import allowed_code

UNKNOWN = "code-unknown"


def run(code):
    return CliRunner().invoke(explain, [code])


def test_a_code_is_explained_with_its_mend_as_a_diff():
    shown = run("noise-once-per-call").output
    assert "\n    +noise = rng.normal(0.0, sigma, (size, classes))\n" in shown
    assert codes()["noise-once-per-call"].title in shown
    assert "`" not in shown
    assert "**" not in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_every_code_is_explained_in_text_that_has_its_sentence():
    for name, code in codes().items():
        shown = run(name)
        assert shown.exit_code == 0
        assert "".join(code.sentence.replace("`", "").split()) in "".join(shown.output.split())


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("scale-to-small", "scale-too-small"), ("once-per-call", "noise-once-per-call")],
)
def test_what_is_no_code_ends_with_2_and_names_the_nearest(typed, meant):
    ended = run(typed)
    assert ended.exit_code == 2
    assert f"{typed!r} is no code; did you mean " in ended.stderr
    assert meant in ended.stderr
    assert ended.stderr.endswith(f"[{UNKNOWN}]\n")
    assert ended.stdout == ""


def test_nothing_alike_is_suggested_for_nothing():
    assert nearest("zzz") == []


def test_mends_are_of_defects_and_diffs_change_something():
    for name, fix in fixes().items():
        if "do" in fix:
            continue
        assert codes()[name].what == "defect"
        assert set(fix) == {"usual", "fix", "costs", "beside"}
        assert set(fix["beside"]) <= set(codes()) - {name}
        lines = [line for line in fix["fix"].splitlines() if line]
        assert {line[0] for line in lines} <= {"+", "-", " "}
        assert any(line[0] in "+-" for line in lines)
        assert f"`{next(iter(fix['beside']))}`" in explained(codes()[name])


OF_CODE = (
    *("path-never", "path-seldom", "paths-left-out"),
    *("code-hint", "coverage-never", "coverage-earlier"),
)


@pytest.mark.parametrize("name", OF_CODE)
def test_what_is_said_of_the_targets_code_says_what_to_do(name):
    """Catches a code that tells of a line and leaves its reader there."""
    shown = "".join(run(name).output.split())
    assert "".join(f"What to do: {fixes()[name]['do']}".split()) in shown
    assert f"What to do: {fixes()[name]['do']}" in explained(codes()[name])


def test_what_to_do_is_of_codes_that_are_no_defects():
    for name, fix in fixes().items():
        if "do" in fix:
            assert set(fix) == {"do"}
            assert codes()[name].what != "defect"


@pytest.mark.parametrize("name", ["path-never", "path-seldom", "code-hint", "coverage-never"])
def test_a_line_that_is_accepted_is_written_as_the_claim_reads_it(name):
    entry = f"{name}:FILE:LINE"
    assert entry in fixes()[name]["do"]
    assert allowed_code(entry.replace("LINE", "7")) == name

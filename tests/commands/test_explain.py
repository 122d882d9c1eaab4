"""`dpassay explain`: what a code means and how it is mended, the same as on the site."""

import pytest
from click.testing import CliRunner

from dpassay.verifiers.commands.explain import explain
from dpassay.verifiers.findings.codes import codes
from dpassay.verifiers.findings.fixes import explained, fixes, nearest

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
        assert codes()[name].what == "defect"
        assert set(fix) == {"usual", "fix", "costs", "beside"}
        assert set(fix["beside"]) <= set(codes()) - {name}
        lines = [line for line in fix["fix"].splitlines() if line]
        assert {line[0] for line in lines} <= {"+", "-", " "}
        assert any(line[0] in "+-" for line in lines)
        assert f"`{next(iter(fix['beside']))}`" in explained(codes()[name])

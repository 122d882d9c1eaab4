"""`dpassay instahide`, and a claim without noise."""

import json

import pytest
from click.testing import CliRunner
from documents import assert_published

pytest.importorskip("skimage")

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.cli import commands
from dpassay.verifiers.kinds.reading import parse_claim


def run(*words):
    return CliRunner().invoke(commands, ["instahide", *words])


@pytest.mark.slow("recovers a hundred images; a dozen are elsewhere")
def test_faces_are_recovered_and_drawn(tmp_path) -> None:
    figure = tmp_path / "found.png"
    words = ("--encodings", "2000", "--figure", str(figure), "--json")
    text = run(*words).stdout
    assert_published("instahide", text)
    found = json.loads(text)
    assert found["recovered"] > 90
    assert found["private"] == 100
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_a_figure_of_another_kind_is_one_line() -> None:
    found = run("--figure", "found.jpg")
    assert found.exit_code == 2
    assert found.stderr.startswith("dpassay: --figure 'found.jpg': ")
    assert found.stderr.endswith(" .png or .svg [value-not-allowed]\n")
    assert found.stderr.count("\n") == 1


def test_a_claim_of_an_encoding_without_noise_is_refused_with_its_reason() -> None:
    with pytest.raises(ClaimError) as error:
        parse_claim({"mechanism": {"name": "InstaHide"}})
    assert "adds no noise" in str(error.value)
    assert "100 private images" in str(error.value)
    assert "from 2,000" in str(error.value)
    assert "\n" not in str(error.value)

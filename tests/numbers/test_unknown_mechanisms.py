"""A claim of a mechanism that does not exist is told all that do; other words that are none."""

import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.cli import commands
from dpassay.verifiers.kinds import kinds
from dpassay.verifiers.kinds.reading import parse_claim


@pytest.mark.parametrize("name", ["noisy-counts", "nosuch", "GNMax"])
def test_a_mistyped_mechanism_is_one_line_that_names_all(name: str) -> None:
    """It was taken for labels: "expected gnmax or lnmax, classes and teachers are missing"."""
    table = {"mechanism": {"name": name, "noise": "laplace:2", "adjacency": "add-remove"}}
    with pytest.raises(ClaimError) as error:
        parse_claim(table, "claim.toml")
    message = str(error.value)
    assert message.startswith(f"claim.toml: mechanism.name = '{name}': ")
    assert "\n" not in message
    assert all(known in message for kind in kinds() for known in kind.mechanisms)
    assert ("mean noisy-count?" in message) == (name == "noisy-counts")


def test_verify_says_so_too(tmp_path: Path) -> None:
    claim = tmp_path / "claim.toml"
    claim.write_text('[mechanism]\nname = "noisy-counts"\nnoise = "laplace:2"\n')
    done = CliRunner().invoke(commands, ["verify", "nowhere.py:aggregate", "--claim", str(claim)])
    assert done.exit_code == 2
    assert "mean noisy-count?" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_missing_package_of_a_claim_is_said_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was found after 38,237 queries, and told as if the target had not answered."""
    monkeypatch.setattr("dpassay.verifiers.optional_packages.find_spec", lambda _name: None)
    (tmp_path / "people.csv").write_text("sex,a,income\n" + "0,1.0,0\n1,2.0,1\n" * 20)
    (tmp_path / "claim.toml").write_text(
        '[mechanism]\nname = "noisy-gradient"\nnoise = "gaussian:1"\nadjacency = "add-remove"\n'
        "shapes = [[2]]\nclip_norm = 1.0\ndivide_by = 4\n"
        '[leakage]\nmodel = "model.py:gradients"\ndata = "people.csv"\nlabel = "income"\n'
        'attribute = "sex"\nbatch = 4\n'
    )
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(commands, ["verify", "nowhere.py:aggregate", "--claim", "claim.toml"])
    assert done.exit_code == 2
    assert "[leakage]" in done.stderr
    assert "needs scikit-learn" in done.stderr


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (
            'adjacency = "addremove"',
            "mechanism.adjacency = 'addremove': expected 'add-remove' or 'replace-one' "
            "(did you mean 'add-remove'?)",
        ),
        (
            'adjacency = "none"',
            "mechanism.adjacency = 'none': expected 'add-remove' or 'replace-one'",
        ),
        (
            'adjacency = "add-remove"\nunit = "user"',
            'mechanism: max_contributions is missing: unit = "user" needs it',
        ),
    ],
)
def test_what_is_wrong_is_said_of_the_key_that_is(keys: str, told: str) -> None:
    """Where users came without their records, the mechanism was said to need these."""
    text = f'[mechanism]\nname = "noisy-count"\nnoise = "laplace:2"\n{keys}'
    with pytest.raises(ClaimError) as caught:
        parse_claim(tomllib.loads(text))
    assert str(caught.value) == f"claim: {told}"


def test_whole_noise_of_large_scales_is_refused() -> None:
    """Its law is summed: at 10^8 it took all memory there was."""
    table = {"name": "noisy-count", "noise": "discrete-laplace:1e8", "adjacency": "add-remove"}
    with pytest.raises(ClaimError, match=r"discrete-laplace:1e8.* 1,000,000 .*whole noise"):
        parse_claim({"mechanism": table})

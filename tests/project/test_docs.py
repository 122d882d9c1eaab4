"""The pages under docs/ say what is so: links, claims, snippets, check ids, keys of the claim."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from claims import gnmax

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.claim import (
    Claim,
    Gate,
    HttpClaim,
    InputsClaim,
    LogClaim,
    MechanismClaim,
    PrivacyClaim,
    is_of_numbers,
    parse_claim,
)
from dpassay.verifiers.kinds.labels.error_budget import SHARES
from dpassay.verifiers.kinds.labels.gathering import verify
from dpassay.verifiers.kinds.numbers.claim import parse_numbers_claim
from dpassay.verifiers.kinds.numbers.mechanism import NumberMechanism
from dpassay.verifiers.kinds.numbers.registered import asking, observing
from dpassay.verifiers.kinds.numbers.shares import SHARES as NUMBER_SHARES
from dpassay.verifiers.targets import InProcessTarget

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TABLES: dict[str, Any] = {
    "mechanism": MechanismClaim,
    "privacy": PrivacyClaim,
    "gate": Gate,
    "http": HttpClaim,
    "log": LogClaim,
    "inputs": InputsClaim,
}
PEOPLE = "sex,age,hours,income\n0,1,1,0\n1,2,1,1\n"  # of which claims about gradients tell
SAMPLE = {
    "mechanism": gnmax(),
}


def text(name):
    return (ROOT / "docs" / name).read_text()


def without_code(markdown):
    return re.sub(r"^```.*?^```", "", markdown, flags=re.DOTALL | re.MULTILINE)


def blocks(markdown, language):
    return re.findall(rf"^```{language}\n(.*?)^```", markdown, re.DOTALL | re.MULTILINE)


def headings(markdown):
    return re.findall(r"^#+ (.*)$", without_code(markdown), re.MULTILINE)


def anchor(heading):
    """As GitHub makes it: lower case, no punctuation but hyphens, hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def dead_links(page, markdown):
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(markdown)):
        if re.match(r"\w+:", target):
            continue
        path, _, fragment = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        known = other.is_file() and (
            not fragment or fragment in map(anchor, headings(other.read_text()))
        )
        if not known:
            dead.append(target)
    return dead


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page) -> None:
    assert dead_links(page, page.read_text()) == []


def test_dead_links_are_found() -> None:
    """A missing file, a missing heading here and elsewhere; what is in a code block is no link."""
    page = ROOT / "docs" / "checks.md"
    wrong = "[a](nowhere.md) [b](#nowhere) [c](zoo.md#nowhere)\n```\n[d](nowhere.md)\n```\n"
    assert dead_links(page, wrong) == ["nowhere.md", "#nowhere", "zoo.md#nowhere"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_claims_parse(page, tmp_path, monkeypatch) -> None:
    """A fragment stands for the same with a [mechanism]; a mistyped key or value raises."""
    monkeypatch.chdir(tmp_path)
    for block in blocks(page.read_text(), "toml"):
        claim = SAMPLE | tomllib.loads(block)
        if "inputs" in claim:  # of which the pages show a row or two
            votes = [claim["mechanism"]["teachers"], *[0] * (claim["mechanism"]["classes"] - 1)]
            Path("queries.jsonl").write_text(json.dumps({"input": 0, "histogram": votes}))
        if "leakage" in claim:
            Path("people.csv").write_text(PEOPLE)
        parse_numbers_claim(claim) if is_of_numbers(claim) else parse_claim(claim)


def test_there_is_a_section_for_each_check() -> None:
    sections = re.findall(r"^## (.*)$", text("checks.md"), re.MULTILINE)
    assert sections == ["What all checks share", *SHARES, "Checks of numbers"]


@pytest.mark.parametrize("check", SHARES)
def test_a_section_says_all_there_is_to_say(check) -> None:
    section = text("checks.md").split(f"\n## {check}\n")[1].partition("\n## ")[0]
    said = ("Tests", "Null hypothesis", "Evidence", "Share", "What a pass excludes")
    for part in (*said, "Typical causes", "Cannot see"):
        assert section.count(f"**{part}.**") == 1, part


def test_shares_are_as_stated() -> None:
    """In the table and in the section of each check; a share changed in the code is noticed."""
    for check, share in SHARES.items():
        shown = "0" if share == 0 else f"1/{round(1 / share)}"
        row = rf"^\| `{check}` \| {shown} \|"
        assert re.search(row, text("checks.md"), re.MULTILINE), check
        section = text("checks.md").split(f"\n## {check}\n")[1].partition("\n## ")[0]
        assert re.search(rf"\*\*Share\.\*\* {shown}[.,]", section), check


def test_every_check_has_its_place_among_the_verdicts() -> None:
    rows = re.findall(r"^\| \[([\w-]+)\]\(checks\.md#\1\) \|", text("how-to.md"), re.MULTILINE)
    assert sorted(rows) == sorted(SHARES)


def test_every_check_of_numbers_has_a_row(tmp_path, monkeypatch) -> None:
    """With its share, in the reference; and what a failure means, in the how-to guide."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE)
    claims = [
        parse_numbers_claim(tomllib.loads(block))
        for block in blocks(text("how-to.md"), "toml")
        if is_of_numbers(tomllib.loads(block))
    ]
    made = {make.id for claim in claims for make in observing(claim)}
    made |= {make.id for claim in claims for make in asking(claim)}
    assert {
        "noise-law",
        "sensitivity",
        "gradient-leakage",
        "partition-release",
        "privacy-claim",
    } <= made
    reference = text("checks.md").split("\n## Checks of numbers\n")[1]
    guide = text("how-to.md").split("\n## Numbers instead of labels\n")[1].partition("\n## ")[0]
    for check in made:
        share = NUMBER_SHARES[check]
        shown = "0" if share == 0 else f"1/{round(1 / share)}"
        assert f"\n| `{check}` | {shown} |" in reference, check
        assert f"\n| `{check}` |" in guide, check


def test_every_key_of_a_claim_of_numbers_is_documented() -> None:
    guide = text("how-to.md").split("\n## Numbers instead of labels\n")[1].partition("\n## ")[0]
    table = guide.split("Keys of `[mechanism]`")[1].partition("\n\n`[privacy]`")[0]
    rows = re.findall(r"^\| (`[^|]+`) \|", table, re.MULTILINE)
    keys = [key for row in rows for key in re.findall(r"`(\w+)`", row)]
    assert ["name", *keys] == list(NumberMechanism.model_fields)


def documented_keys():
    """Key -> default as the table shows it."""
    row = r"^\| `(\w+\.\w+)` \| [^|]+ \| ([^|]+) \|"
    return dict(re.findall(row, text("how-to.md"), re.MULTILINE))


def test_all_keys_of_the_claim_are_documented() -> None:
    expected = [f"{table}.{key}" for table, model in TABLES.items() for key in model.model_fields]
    assert list(documented_keys()) == expected
    assert set(TABLES) == set(Claim.model_fields)


@pytest.mark.parametrize(("key", "shown"), documented_keys().items())
def test_defaults_are_as_documented(key, shown) -> None:
    table, name = key.split(".")
    field = TABLES[table].model_fields[name]
    if field.is_required():
        assert shown == "required"
    elif field.default is None:
        assert shown == "none"
    else:
        assert tomllib.loads(f"value = {shown.strip('`')}")["value"] == field.get_default(
            call_default_factory=True
        )


def tutorials_aggregator(*mended):
    """The tutorial's aggregator, with the lines that its later blocks put in place."""
    source, *lines = blocks(text("tutorial.md"), "python")
    for line in lines[: len(mended)]:
        name = line.split(" = ")[0]
        source = re.sub(rf"^{name} = .*$", line.strip(), source, flags=re.MULTILINE)
    space: dict[str, Any] = {}
    exec(source, space)
    assert [space["sigma"] == 40, space["rng"].bit_generator.seed_seq.entropy != 0] == [
        "sigma" in mended,
        "rng" in mended,
    ]
    return space["aggregate"]


def test_the_tutorials_fault_is_found_and_named() -> None:
    claim = parse_claim(tomllib.loads(blocks(text("tutorial.md"), "toml")[0]))
    report = verify(InProcessTarget(tutorials_aggregator()), claim, seed=7)
    assert report.verdict == Verdict.FAIL
    diagnosis = next(c.diagnosis for c in report.checks if c.id == "class-probabilities")
    assert "the claimed scale over the square root of 2" in diagnosis


@pytest.mark.slow("whole runs; others are")
def test_the_tutorials_aggregator_is_mended_line_by_line() -> None:
    """The mended one runs under the claim until its small budget ends, and is not accused."""
    tutorials_aggregator("sigma")
    claim = parse_claim(tomllib.loads(blocks(text("tutorial.md"), "toml")[0]))
    target = InProcessTarget(tutorials_aggregator("sigma", "rng"))
    report = verify(target, claim.with_limits(5000, None), seed=7)
    assert report.verdict == Verdict.INCONCLUSIVE


def test_the_explanations_snippets_print_what_they_say(capsys) -> None:
    """Those without a simulation of attacks; the first one's figures are its own seed's."""
    page = text("explanation.md")
    for snippet in blocks(page, "python")[:2]:
        exec(snippet, {})
    first, second = capsys.readouterr().out.splitlines()
    assert f"`{first}`" in page
    assert f"# {second}" in page


def test_the_budget_recipe_charges_what_it_says(tmp_path, monkeypatch) -> None:
    """It stops when its budget is spent, its account survives a restart, its charge is right."""
    from dpassay.reference import BudgetExhausted

    monkeypatch.chdir(tmp_path)
    source = next(b for b in blocks(text("how-to.md"), "python") if "class Limited" in b)
    space: dict[str, Any] = {"__name__": "deployment"}
    exec(source, space)
    limited = space["Limited"]("ledger.jsonl")
    votes = np.array([125, 125])
    for _ in range(10):
        assert limited.sample(votes, 15).shape == (15,)
    with pytest.raises(BudgetExhausted):
        limited.sample(votes, 30)
    assert space["Limited"]("ledger.jsonl").spent(1e-5) == limited.spent(1e-5) > 1.5
    assert space["unlimited"].rdp(votes, np.array([2.0])) == pytest.approx([2.0 / 1600])

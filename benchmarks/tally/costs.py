"""`python -m benchmarks.tally.costs`: what a vote costs in the clear, behind masks and encrypted.

It writes docs/results/tally-costs.md and its figure. Ciphers of libraries run in environments of
their own, made the first time (pip needs a network then).
"""

import argparse
import json
import subprocess
import time
import tomllib
from importlib.metadata import version
from typing import Any

import numpy as np

from dpassay.reference.numbers import Shares
from dpassay.reference.numbers.families import DiscreteLaplace
from dpassay.reference.secure_aggregation import SecureAggregation
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.tally.reference import answering
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

from ..drawing import plt, save
from ..field.environments import ENVIRONMENTS
from ..field.rows import CALLS
from ..long_runs import ROOT, add_workers, carried_out, workers
from ..pages import RESULTS, head

_PARTIES = (10, 100, 1_000)
_NEIGHBOURS = {10: 4, 100: 20, 1_000: 50}
_WAYS = {
    "clear": "in the clear",
    "masked": "masks with all others",
    "near": "masks with neighbours",
    "phe": "Paillier",
    "bfv": "BFV",
    "ckks": "CKKS",
}
_IN = {"phe": "phe-1.5.0", "bfv": "tenseal-0.3.18", "ckks": "tenseal-0.3.18"}

_HUNDRED = """
[mechanism]
name = "secure-tally"
noise = "discrete-laplace:2;shares=100/80"
adjacency = "replace-one"
parties = 100
quorum = 80
lower = 0
upper = 1
dimensions = {width}
modulus = 65536

[gate]
smallest_effect = 0.1
"""


def cost(way: str, parties: int) -> dict[str, float]:
    """Milliseconds and bytes of a vote of ten numbers, and the error that decryption leaves."""
    if way in _IN:
        return dict(_of_library(way, "encrypted_cost.py", way, str(parties)))
    rng = np.random.default_rng(1)
    values, share = (
        rng.integers(0, 2, (parties, 10)),
        Shares(2.0, DiscreteLaplace, parties, parties),
    )
    began = time.perf_counter()
    if way == "clear":
        (values + share.share(rng, values.shape).astype(int)).sum(0)
        return {"ms": 1e3 * (time.perf_counter() - began) / parties, "bytes": 20.0}
    near = _NEIGHBOURS[parties] if way == "near" else None
    aggregation = SecureAggregation(
        parties,
        2 * parties // 3,
        2**16,
        noise=lambda size: share.share(rng, (size,)),
        neighbours=near,
    )
    began = time.perf_counter()
    aggregation.round(values, [0] * parties)
    seconds, others = time.perf_counter() - began, near or parties - 1
    # keys and signature to the server, the others' keys back, encrypted shares both ways, what is
    # sent, and a share of each party to unmask
    sent = 128 + 128 * others + 2 * others * (2 * 66 + 16) + 20 + 66 * (others + 1)
    return {"ms": 1e3 * seconds / parties, "bytes": float(sent)}


def _of_library(environment: str, script: str, *words: str) -> Any:
    where = ENVIRONMENTS[_IN[environment]]
    where.make()
    asked = [str(where.python), str(CALLS / script), *words]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=ROOT)
    return json.loads(done.stdout)


def key_found() -> dict[str, Any]:
    """The part of a CKKS key that published tallies give away, by how they are rounded."""
    return dict(_of_library("ckks", "ckks_key.py"))


def hundred(width: int, neighbours: int) -> dict[str, Any]:
    """A verification of 100 parties to its end: verdict, rounds and seconds."""
    claim: Any = parse_claim(tomllib.loads(_HUNDRED.format(width=width)))
    rng, family = np.random.default_rng([width, 9]), claim.mechanism.noise.family
    aggregation = SecureAggregation(
        100, 80, 65536, noise=lambda size: family.share(rng, (size,)), neighbours=neighbours
    )
    target = InProcessTarget(answering(claim, aggregation), release=claim.release)
    began = time.monotonic()
    report = verify(target, claim, seed=1)
    seconds = time.monotonic() - began
    return {"verdict": str(report.verdict), "rounds": report.queries, "seconds": seconds}


_RUNS = ((64, 20), (256, 20))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tally.costs", description=__doc__)
    add_workers(parser, default=1)
    asked = parser.parse_args()
    with workers(asked) as executor:
        parts = [(way, parties) for way in _WAYS for parties in _PARTIES]
        costs = dict(zip(parts, carried_out(cost, parts, "tally-costs", executor), strict=True))
        (key,) = carried_out(key_found, [()], "tally-key", executor)
        runs = carried_out(hundred, list(_RUNS), "tally-hundred", executor)
    _draw(costs)
    (RESULTS / "tally-costs.md").write_text(_page(costs, key, runs))


def _draw(costs: dict[tuple[str, int], Any]) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
    for axis, what, name in zip(axes, ("ms", "bytes"), ("milliseconds", "bytes"), strict=True):
        for mark, (way, label) in zip("o^vsDx", _WAYS.items(), strict=True):
            drawn = [costs[way, n][what] for n in _PARTIES]
            axis.plot(_PARTIES, drawn, marker=mark, label=label)
        axis.set(xscale="log", yscale="log", xlabel="parties", ylabel=f"{name} a vote")
        axis.grid(alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    save(figure, RESULTS / "tally-costs.svg")


def _short(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 20 else f"{figure:.3g}"


def _page(costs: dict[tuple[str, int], Any], key: dict[str, Any], runs: list[Any]) -> str:
    def table(what: str) -> str:
        rows = [
            f"| {n:,} | " + " | ".join(_short(costs[way, n][what]) for way in _WAYS) + " |"
            for n in _PARTIES
        ]
        return "\n".join([head("parties | " + " | ".join(_WAYS.values())), *rows])

    errors = [
        f"| {n:,} | {costs['ckks', n]['deviation']:.1g} | {costs['ckks', n]['largest']:.1g} |"
        for n in _PARTIES
    ]
    keys = [f"| {row['published']} | {row['found']:.0%} |" for row in key["rows"]]
    hundreds = [
        f"| {width} | {near} neighbours | {run['verdict']} "
        f"| {run['rounds']:,} | {run['seconds']:.0f} |"
        for (width, near), run in zip(_RUNS, runs, strict=True)
    ]
    near = ", ".join(f"{_NEIGHBOURS[n]} of {n:,}" for n in _PARTIES)
    return f"""# What a secret vote costs

Generated by `python -m benchmarks.tally.costs`; do not edit. dpassay {version("dpassay")},
cryptography {version("cryptography")}, phe 1.5.0 with gmpy2 (2,048 bits), TenSEAL 0.3.18 (BFV of
degree 4,096, CKKS of degree 8,192 and scale 2^40, both of 128 bits of security).

A party's vote is ten numbers of 0 or 1. Milliseconds are of one core, of all parties and the server
in one process, divided by the parties; the machine had other work, so that they compare roughly.
Bytes are what a party sends and receives; in the clear they
are ten numbers of 16 bits.

![Milliseconds and bytes a vote, by the number of parties](tally-costs.svg)

## Milliseconds a vote

{table("ms")}

## Bytes a vote

{table("bytes")}

## How to choose

- **One server that everybody trusts with votes**: in the clear. The noise hides a vote from those
  who read the tally; it costs nothing beside the rest.
- **A server that must see no vote, parties that stay for a few messages**: masks. They need no
  trusted key and no large messages. With masks of all others, time and bytes of a vote grow with
  the number of parties; from some hundred on let each mask with some neighbours alone ({near}
  here; Bell et al. 2020 say how many). A party that leaves is recovered.
- **Parties that send one message and go**: Paillier or BFV. Somebody holds the key, and can read
  every vote that reaches him unsummed: it must be another than the server, or be shared, which
  neither library does. Paillier has the small messages, BFV the fast ones; BFV packs thousands of
  numbers at the same price.
- **CKKS** is for real numbers, such as updates of a model. Votes are better off with BFV, as the
  next part says.
- None of them makes a tally private. What a tally tells about a vote is bounded by its noise alone,
  and `dpassay verify` checks that noise [whatever carries it](../how-to/tallies.md).

## What CKKS's decryption adds, and gives away

Decrypted numbers are off by a small error, which is no noise of the claim and adds nothing that the
accounting may count:

{head("parties | deviation of the error | largest")}
{chr(10).join(errors)}

The error depends on the key. Li and Micciancio (2021, "On the security of homomorphic encryption on
approximate numbers") recover a key from decrypted numbers and their ciphertexts. Here a
server that has added up the votes of ten parties, with discrete Laplace noise of scale 2 added
encrypted, sees two published tallies of 4,096 numbers, and solves two equations at each root:

{head("published | part of the key that is found")}
{chr(10).join(keys)}

Noise that is added before decryption is no help: it is part of what is decrypted. Publish whole
numbers: with errors far below a half they follow from votes and noise alone. So do labels of counts
that were rounded first; the error would else decide ties. Or add noise after decryption that is
large beside the error. A claim of tallies takes whole numbers alone,
so that the gate refuses tallies as they are decrypted.

## A hundred parties, verified to the end

`dpassay verify` of the reference, noise in 100 shares of which 80 are the claimed noise, with
`smallest_effect = 0.1`; seconds are those of the rounds above all.

{head("numbers a vote | masks with | verdict | rounds | seconds")}
{chr(10).join(hundreds)}
"""


if __name__ == "__main__":
    main()

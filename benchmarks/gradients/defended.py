"""Sections of docs/results/gradients.md: what five defences leave; errors beside Fano's bound."""

from collections.abc import Iterator

import numpy as np

from dpassay.attacks.gradients.defences.dp_sgd import DPSGD
from dpassay.reference.accounting.adjacency import Adjacency

from ..pages import head
from .information import most_advantage
from .rows import FIRST, Found, bounds, least_for_all
from .settings import ENCODINGS, HEADLINE, SIGMAS

DELTA = 1e-5
TOLD = {
    "pruning": "pruning, 99 %",
    "sign-sgd": "SignSGD",
    "perturbation": "perturbation",
    "vib": "bottleneck, beta .01",
}
PUBLISHED = {
    ("pruning", "adaptive max-pooling", "advantage"): ".7841",
    ("pruning", FIRST, "advantage"): "0",
    ("sign-sgd", FIRST, "advantage"): "0",
    ("perturbation", FIRST, "advantage"): "0",
    ("perturbation", "adaptive max-pooling", "auroc"): "1.00",
    ("perturbation", "adaptive max-pooling", "advantage"): "1.00",
    ("sigma 0.05", FIRST, "auroc"): ".3004",
    ("sigma 0.05", FIRST, "advantage"): ".0001",
    ("sigma 0.05", "adaptive pca", "auroc"): ".9825",
    ("sigma 0.05", "adaptive pca", "advantage"): ".8239",
    ("sigma 0.75", "adaptive pca", "auroc"): ".7010",
    ("sigma 0.75", "adaptive pca", "advantage"): ".0598",
}
FORMULA = {0.05: 96.90, 0.75: 6.46}


def defences_section(found: Found) -> Iterator[str]:
    yield "## Defences\n"
    yield (
        "Property inference, batches of 16. A *static* adversary trains on gradients as they are, "
        "an *adaptive* one on gradients that it has defended itself. All of them get the model's "
        "parameters, so that both know a bottleneck, which is part of the model. Pruning keeps "
        "1 % of the coordinates; the perturbation takes five steps of .002 within .005 up the "
        "loss of a surrogate, and leaves training alone; DP-SGD clips to 1 and adds noise of "
        "standard deviation sigma to the sum.\n"
    )
    yield "![What defences leave, by AUROC and advantage](gradients-defences.svg)\n"
    yield head("defence | encoding | adversary | AUROC | advantage | model's AUROC")
    for encoding in ENCODINGS:
        none = f"pia {encoding}"
        yield (
            f"| none | {encoding} | max-pooling | {found.several(none, 'auroc')} (.9919) "
            f"| {found.several(none, 'advantage')} (.9363) "
            f"| {found.of_game(none, 'utility').mean:.3f} |"
        )
        for short in (*TOLD, *(f"sigma {sigma:g}" for sigma in SIGMAS[encoding])):
            yield from _rows(found, short, encoding)
    yield ""
    signs = [found.of_game(f"defended {one} sign-sgd", "utility").mean for one in ENCODINGS]
    lost = sum(one["utility"] < 0.5 for one in found.of_setting["defended one-hot sign-sgd"])
    yield (
        "A static adversary's advantage of 0 is a matter of the threshold: defended gradients are "
        "on another scale than those it learned from, so that it calls nearly all batches one "
        "sex, and still ranks them; under SignSGD it is not even 0 in every seed. An AUROC far "
        "*below* .5, under perturbation, is as good as one far above: who turns the answer round "
        "has it all. Adaptive adversaries lose something to pruning, nothing to SignSGD or the "
        "bottleneck, and gain from the perturbation, which writes a into the gradients. DP-SGD "
        "alone takes it all away, at a sigma that costs utility too. SignSGD, with the rate that "
        f"the paper gives, costs more of it than the paper has: {signs[0]:.3f} one-hot, "
        f"{signs[1]:.3f} label-encoded, with a step of .01 in every coordinate; one-hot, "
        f"{lost} of the seeds ends below .5, and the mean is far from the others.\n"
    )
    yield from _costs(found)


def _rows(found: Found, short: str, encoding: str) -> Iterator[str]:
    name = f"defended {encoding} {short}"
    told = TOLD.get(short, short.replace("sigma", "DP-SGD, sigma"))
    for reader in found.readers(name):
        cells = []
        for measure in ("auroc", "advantage"):
            paper = PUBLISHED.get((short, reader, measure))
            cells.append(
                f"{found.several(name, measure, reader)}" + (f" ({paper})" if paper else "")
            )
        utility = found.of_game(name, "utility").mean
        yield f"| {told} | {encoding} | {reader} | {cells[0]} | {cells[1]} | {utility:.3f} |"


def _costs(found: Found) -> Iterator[str]:
    yield (
        f"What DP-SGD costs at delta {DELTA:g}, exactly: one release of a batch, and the "
        f"{HEADLINE} of a game, which share their batch and so are not subsampled. To change what "
        "a record says of somebody is to *replace* it, which moves the sum by up to 2; adding or "
        "removing one moves it by 1. Training on the same records costs as much again. In "
        "brackets, the paper's epsilon: sqrt(2 ln(1.25/delta)) / sigma, one step, add-remove, a "
        "formula that holds for an epsilon below 1 alone.\n"
    )
    yield head(
        f"sigma | one release, add-remove | replace | {HEADLINE} releases, add-remove | replace"
    )
    for sigma in SIGMAS["label"]:
        defence = DPSGD(multiplier=sigma)
        cells = [
            f"{defence.epsilon(DELTA, releases, adjacency):,.2f}"
            for releases in (1, HEADLINE)
            for adjacency in (Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE)
        ]
        paper = f" ({FORMULA[sigma]:.2f})" if sigma in FORMULA else ""
        yield f"| {sigma:g} | {cells[0]}{paper} | {' | '.join(cells[1:])} |"
    yield ""
    pooled = [
        found.several(f"defended {one} sigma 0.05", "auroc", "adaptive max-pooling").mean
        for one in ENCODINGS
    ]
    late = "defended one-hot sigma 0.75"
    ends = [found.single(late, "auroc", "adaptive pca", n).mean for n in (0, HEADLINE - 1)]
    yield (
        "The max-pooling adversary of the paper's Table 2, whom sigma .05 defeats, is the *static* "
        "one: trained on gradients with noise, the same forest on the same pools has an AUROC of "
        f"{pooled[0]:.2f} (one-hot) and {pooled[1]:.2f}. At sigma .75 components read more than "
        f"the paper has: single rounds fall from {ends[0]:.2f} in the first to {ends[1]:.2f} in "
        "the fifth (one-hot), so that its .7010 is like one late round alone; all rounds together "
        "stay below the first. The clip norm, the rounds, and whether noise is added to the sum or "
        "to the mean are not stated there. What noise hides from either it may still show to one "
        "who looks along the right directions: [what noise hides](gradients-noise.md).\n"
    )


def fano_section(found: Found) -> Iterator[str]:
    yield "## The least error, by Fano\n"
    yield (
        "Whoever infers a errs with a probability e for which H(a | release) <= H2(e) + e log(m - "
        "1) (equation 6, solved numerically; equation 7 has log 2 for H2 and says nothing of two "
        "values). It takes the mutual information, of which an adversary shows a part: its log "
        "posteriors, recalibrated on other trials, have I(a; release) >= H(a) + E log q "
        "(in nats, the mean over seeds). The bound at that information is for whoever sees no "
        "more than this adversary; *cautious* puts the upper end of the estimate's interval in, "
        "and *above it* counts seeds in which that is more than the upper end of the error's. "
        "The last column is for everybody: where Gaussian noise is added, one release carries no "
        "more than 1/2 log det(1 + cov / s²), of the covariance of 1,500 clipped sums before "
        "training (the paper's 1/2 log(1 + P / sigma) divides a power by a deviation; of a sample "
        "the logarithm is on the low side, so that it is an estimate). 0 there says that noise so "
        "small bounds nothing.\n"
    )
    yield head(
        "game | adversary | H(a) | information seen | equation 7 | equation 6 | cautious "
        "| error reached | above it | least for all, one release"
    )
    exceeding = cases = 0
    names = [f"pia {one}" for one in ENCODINGS] + [f"dia {one} 128" for one in ENCODINGS]
    names += [f"defended label {short}" for short in TOLD]
    names += [f"defended label sigma {sigma:g}" for sigma in SIGMAS["label"]]
    for name in names:
        for reader in found.readers(name):
            made = bounds(found, name, reader)
            over = sum(one.exceeds for one in made)
            exceeding += over
            cases += len(made)
            means = [
                float(np.mean([getattr(one, part) for one in made]))
                for part in ("entropy", "information", "simple", "full", "cautious", "error")
            ]
            least = f"{least_for_all(found, name):.4f}" if "sigma" in name else "-"
            yield (
                f"| {name} | {reader} | {means[0]:.3f} | {means[1]:.3f} "
                f"| {' | '.join(f'{mean:.4f}' for mean in means[2:])} "
                f"| {over} of {len(made)} | {least} |"
            )
    yield ""
    prior = float(np.mean([max(one["prior"]) for one in found.of_setting["pia label"]]))
    large = f"defended label sigma {SIGMAS['label'][-1]:g}"
    most = least_for_all(found, large)
    yield (
        f"The cautious bound was above the error in {exceeding} of {cases} cases. At sigma "
        f"{SIGMAS['label'][-1]:g}, by that estimate, nobody errs in fewer than {100 * most:.1f} % "
        f"of single releases (equation 8: an advantage of {most_advantage(most, prior):.3f} at "
        f"most), where who knows the prior alone errs in {100 * (1 - prior):.1f} %.\n"
    )

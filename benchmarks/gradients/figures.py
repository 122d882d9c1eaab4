"""Curves over rounds and batch sizes, and what defences leave beside what they cost."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..drawing import legend_below, plain, plt, save
from .over_seeds import OverSeeds, over_seeds
from .rows import FIRST, Found
from .settings import ENCODINGS, FEW, HEADLINE, SIGMAS, SIZES

COLOURS = ("#3182bd", "#e6550d", "#31a354", "#756bb1")
NAMES = {"one-hot": "one-hot", "label": "label-encoded"}
HEURISTIC = ("pruning", "sign-sgd", "perturbation", "vib")


def draw(folder: Path, found: Found) -> None:
    plt.rcParams["svg.hashsalt"] = "gradients"
    _rounds(folder / "gradients-rounds.svg", found)
    _sizes(folder / "gradients-sizes.svg", found)
    _defences(folder / "gradients-defences.svg", found)


def _rounds(path: Path, found: Found) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(9.4, 3.8), sharey=True)
    for axis, encoding in zip(axes, ENCODINGS, strict=True):
        name = f"pia {encoding}"
        readers = (FIRST, "1,000 public records"), (f"{FIRST} {FEW}", f"{FEW} public records")
        for colour, (reader, values) in zip(COLOURS, readers, strict=False):
            numbers = np.arange(1, 11)
            until = [found.several(name, "auroc", reader, int(n)) for n in numbers]
            single = [_of_round(found, name, reader, int(n) - 1) for n in numbers]
            _line(axis, numbers, until, colour, "-", label=f"{values}, all rounds so far")
            _line(axis, numbers + 0.12, single, colour, ":", label=f"{values}, this round alone")
        axis.set_title(f"property inference, {NAMES[encoding]}", fontsize=10)
        axis.set_xlabel("round", fontsize=9)
        plain(axis)
    axes[0].set_ylabel("AUROC", fontsize=9)
    axes[0].set_ylim(top=1.005)
    legend_below(figure, axes[0], 2, 0.1, 0.99)
    save(figure, path)


def _of_round(found: Found, name: str, reader: str, number: int) -> OverSeeds:
    results = found.of_setting[name]
    return over_seeds([one["readers"][reader]["single"][number]["auroc"] for one in results])


def _sizes(path: Path, found: Found) -> None:
    sizes = sorted((*SIZES, 16))
    figure, axes = plt.subplots(1, 3, figsize=(11.6, 3.8), sharey=True)
    for axis, (attack, encoding) in zip(
        axes, (("aia", "label"), ("pia", "label"), ("pia", "one-hot")), strict=True
    ):
        names = [f"{attack} {encoding}" + ("" if k == 16 else f" size {k}") for k in sizes]
        several = [found.several(name, "auroc") for name in names]
        first = [found.single(name, "auroc", number=0) for name in names]
        _line(axis, np.array(sizes), several, COLOURS[0], "-", label=f"{HEADLINE} rounds")
        _line(axis, np.array(sizes), first, COLOURS[1], ":", label="the first round alone")
        axis.set_xscale("log", base=2)
        axis.set_xticks(sizes, [str(k) for k in sizes])
        kind = "attribute" if attack == "aia" else "property"
        axis.set_title(f"{kind} inference, {NAMES[encoding]}", fontsize=10)
        axis.set_xlabel("records a batch", fontsize=9)
        plain(axis)
    axes[0].set_ylabel("AUROC", fontsize=9)
    axes[0].set_ylim(top=1.005)
    legend_below(figure, axes[0], 2, 0.1, 0.99)
    save(figure, path)


def _defences(path: Path, found: Found) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(10.4, 4.2), sharey=True)
    for axis, measure in zip(axes, ("auroc", "advantage"), strict=True):
        names = [*HEURISTIC, *(f"sigma {sigma:g}" for sigma in SIGMAS["label"])]
        for reader, colour, marker in (
            (FIRST, COLOURS[1], "s"),
            ("adaptive max-pooling", COLOURS[0], "o"),
            ("adaptive pca", COLOURS[2], "^"),
        ):
            places = [i for i, n in enumerate(names) if reader in found.readers(_defended(n))]
            values = [found.several(_defended(names[i]), measure, reader) for i in places]
            means = [value.mean for value in values]
            spread = [value.deviation for value in values]
            axis.errorbar(
                means, places, xerr=spread, fmt=marker, color=colour, ms=5, lw=1, label=reader
            )
        none = found.several("pia label", measure).mean
        axis.axvline(none, color="black", lw=0.8, ls=":", label="no defence")
        axis.set_xlabel("AUROC" if measure == "auroc" else "advantage", fontsize=9)
        axis.set_xlim(-0.03, 1.03)
        axis.set_yticks(range(len(names)), names)
        axis.grid(axis="y", lw=0.3)
        plain(axis)
    axes[0].invert_yaxis()
    legend_below(figure, axes[0], 4, 0.1, 0.99)
    save(figure, path)


def _defended(name: str) -> str:
    return f"defended label {name}"


def _line(
    axis: Any, x: Any, values: Sequence[OverSeeds], colour: str, style: str, *, label: str
) -> None:
    means = [value.mean for value in values]
    spread = [value.deviation for value in values]
    axis.errorbar(
        x, means, spread, color=colour, linestyle=style, marker="o", ms=3, lw=1.2, label=label
    )

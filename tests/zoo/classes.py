"""Some classes treated unlike the others."""

from typing import Any

import numpy as np

from .claims import GNMAX, MANY_CLASSES, SIGMA
from .entry import LAW, SYMMETRY, Shelf

shelf = Shelf("classes", (*LAW, *SYMMETRY), GNMAX)


def only_where(
    noisy_classes: Any, histogram: np.ndarray, size: int, rng: np.random.Generator
) -> Any:
    """Noise where `noisy_classes` (c,) is true."""
    noise = rng.normal(0, SIGMA, (size, histogram.size))
    return (histogram + np.where(noisy_classes, noise, 0.0)).argmax(1)


@shelf.draws(
    "ten-classes-hard-coded",
    "A loop over ten classes adds the noise, so that classes from 10 on get none.",
    claim=MANY_CLASSES,
    source="tensorflow/privacy research/pate_2017/aggregation.py, noisy_max (as in the fork "
    "sarvex/privacy)",
)
def ten_classes_hard_coded(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return only_where(np.arange(histogram.size) < 10, histogram, size, rng)


@shelf.draws("first-class-only", "A loop over range(1) adds noise to the first class alone.")
def first_class_only(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return only_where(np.arange(histogram.size) < 1, histogram, size, rng)


@shelf.draws("last-class-forgotten", "A loop ends one short: no noise on the last class.")
def last_class_forgotten(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return only_where(np.arange(histogram.size) < histogram.size - 1, histogram, size, rng)


@shelf.draws("empty-classes-forgotten", "Noise is added to the classes that have votes.")
def empty_classes_forgotten(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return only_where(histogram > 0, histogram, size, rng)


@shelf.draws(
    "empty-classes-left-out", "Votes are counted with a dictionary: empty classes never win."
)
def empty_classes_left_out(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noisy = histogram + rng.normal(0, SIGMA, (size, histogram.size))
    return np.where(histogram > 0, noisy, -np.inf).argmax(1)


@shelf.draws("leader-without-noise", "Noise is added to every class but the plurality.")
def leader_without_noise(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    leader = np.arange(histogram.size) == histogram.argmax()
    return only_where(~leader, histogram, size, rng)


@shelf.draws("noise-on-leader-alone", "Noise is added to the largest count only.")
def noise_on_leader_alone(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    leader = np.arange(histogram.size) == histogram.argmax()
    return only_where(leader, histogram, size, rng)


@shelf.draws("noise-on-top-two", "Noise is added to the two largest counts only.")
def noise_on_top_two(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    ranks = np.argsort(np.argsort(-histogram, kind="stable"), kind="stable")
    return only_where(ranks < 2, histogram, size, rng)


@shelf.draws("race-of-top-two", "Only the two largest counts can win, with the claimed noise.")
def race_of_top_two(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    ranks = np.argsort(np.argsort(-histogram, kind="stable"), kind="stable")
    noisy = histogram + rng.normal(0, SIGMA, (size, histogram.size))
    return np.where(ranks < 2, noisy, -np.inf).argmax(1)


@shelf.draws(
    "one-noise-for-all-classes",
    "One number is drawn and added to every class, which changes nothing.",
    source="jax-ml/jax#3646: one key for every component of a vector",
)
def one_noise_for_all_classes(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + rng.normal(0, SIGMA, (size, 1))).argmax(1)


@shelf.draws("half-shared-noise", "Half the variance is common to all classes, and has no effect.")
def half_shared_noise(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    own, common = rng.normal(0, SIGMA, (size, histogram.size)), rng.normal(0, SIGMA, (size, 1))
    return (histogram + (own + common) / 2**0.5).argmax(1)


@shelf.draws("odd-classes-less-noise", "Classes of odd number get half the noise.")
def odd_classes_less_noise(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    scales = np.where(np.arange(histogram.size) % 2, SIGMA / 2, SIGMA)
    return (histogram + rng.normal(0, scales, (size, histogram.size))).argmax(1)


@shelf.draws("sorted-noise", "The noise is sorted before it is added: later classes get more.")
def sorted_noise(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    return (histogram + np.sort(rng.normal(0, SIGMA, (size, histogram.size)))).argmax(1)


@shelf.draws("first-class-favoured", "Noise of mean 10 on the first class, where it should be 0.")
def first_class_favoured(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noise = rng.normal(0, SIGMA, (size, histogram.size))
    noise[:, 0] += 10
    return (histogram + noise).argmax(1)


@shelf.draws("background-never-released", "Class 0, taken for the background, cannot win.")
def background_never_released(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    noisy = histogram + rng.normal(0, SIGMA, (size, histogram.size))
    return 1 + noisy[:, 1:].argmax(1)


@shelf.draws(
    "labels-in-order-of-text",
    "Class numbers sorted as text, so that label 2 stands for class 10.",
    claim=MANY_CLASSES,
)
def labels_in_order_of_text(histogram: np.ndarray, size: int, rng: np.random.Generator) -> Any:
    winner = (histogram + rng.normal(0, SIGMA, (size, histogram.size))).argmax(1)
    position = np.argsort(np.array(sorted(range(histogram.size), key=str)))
    return position[winner]

"""Aggregators under test, right and wrong, for the gate's own tests."""

import os
import time
from typing import Any

import numpy as np

rng = np.random.default_rng()


def correct(histogram: np.ndarray, size: int) -> Any:
    return (histogram + rng.normal(0, 40, (size, len(histogram)))).argmax(1)


def quarter_noise(histogram: np.ndarray, size: int) -> Any:
    """Right for gaussian:10."""
    return (histogram + rng.normal(0, 10, (size, len(histogram)))).argmax(1)


def half_noise(histogram: np.ndarray, size: int) -> Any:
    return (histogram + rng.normal(0, 20, (size, len(histogram)))).argmax(1)


def nine_tenths(histogram: np.ndarray, size: int) -> Any:
    return (histogram + rng.normal(0, 36, (size, len(histogram)))).argmax(1)


def chatty(histogram: np.ndarray, size: int) -> Any:
    print("loading model ...")
    return correct(histogram, size).tolist()


def raises(histogram: np.ndarray, size: int) -> None:
    raise RuntimeError("no model\nand a second line")


def not_a_number(histogram: np.ndarray, size: int) -> Any:
    return np.full(size, np.nan)


def too_few(histogram: np.ndarray, size: int) -> Any:
    return [0] * (size - 1)


def out_of_range(histogram: np.ndarray, size: int) -> Any:
    return [len(histogram)] * size


def refuses_unasked(histogram: np.ndarray, size: int) -> Any:
    return [-1] * size


def words(histogram: np.ndarray, size: int) -> Any:
    return ["a"] * size


def fractions(histogram: np.ndarray, size: int) -> Any:
    return [0.5] * size


def nothing(histogram: np.ndarray, size: int) -> Any:
    return None


def in_place(histogram: np.ndarray, size: int) -> Any:
    histogram += 1
    return [0] * size


def refuses_all(histogram: np.ndarray, size: int) -> None:
    raise ValueError("closed on Saturdays")


def dies(histogram: np.ndarray, size: int) -> None:
    os._exit(3)


def slow(histogram: np.ndarray, size: int) -> Any:
    time.sleep(0.2)
    return correct(histogram, size)


def hangs(histogram: np.ndarray, size: int) -> None:
    time.sleep(600)


class Aggregator:
    def sample(self, histogram: np.ndarray, size: int) -> Any:
        return correct(histogram, size)


aggregator = Aggregator()

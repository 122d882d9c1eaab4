"""Aggregators under test, right and wrong, for the gate's own tests."""

import os
import time

import numpy as np

rng = np.random.default_rng()


def correct(histogram, size):
    return (histogram + rng.normal(0, 40, (size, len(histogram)))).argmax(1)


def quarter_noise(histogram, size):
    """Right for gaussian:10."""
    return (histogram + rng.normal(0, 10, (size, len(histogram)))).argmax(1)


def half_noise(histogram, size):
    return (histogram + rng.normal(0, 20, (size, len(histogram)))).argmax(1)


def nine_tenths(histogram, size):
    return (histogram + rng.normal(0, 36, (size, len(histogram)))).argmax(1)


def chatty(histogram, size):
    print("loading model ...")
    return correct(histogram, size).tolist()


def fixed_total(histogram, size):
    if histogram.sum() != 250:
        raise ValueError("expected 250 votes")
    return correct(histogram, size)


def raises(histogram, size):
    raise RuntimeError("no model\nand a second line")


def not_a_number(histogram, size):
    return np.full(size, np.nan)


def too_few(histogram, size):
    return [0] * (size - 1)


def out_of_range(histogram, size):
    return [len(histogram)] * size


def refuses_unasked(histogram, size):
    return [-1] * size


def words(histogram, size):
    return ["a"] * size


def fractions(histogram, size):
    return [0.5] * size


def nothing(histogram, size):
    return None


def in_place(histogram, size):
    histogram += 1
    return [0] * size


def refuses_all(histogram, size):
    raise ValueError("closed on Saturdays")


def dies(histogram, size):
    os._exit(3)


def slow(histogram, size):
    time.sleep(0.2)
    return correct(histogram, size)


def hangs(histogram, size):
    time.sleep(600)


class Aggregator:
    def sample(self, histogram, size):
        return correct(histogram, size)


aggregator = Aggregator()

"""Claims of tables: those that are none, told in a line, and names that engines give."""

import tomllib
from typing import Any

import pytest
from table_zoo.shelf import ALONE, LISTED, OF_USER, PUBLIC, VECTOR

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.kinds.reading import parse_claim


def claim_of(text: str) -> Any:
    return parse_claim(tomllib.loads(f"[mechanism]\n{text}"))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('kept = "uniform"\n', "", "kept"),
        ('adjacency = "add-remove"\n', "", "adjacency"),
        ("max_partitions = 3", "max_partitions = 0", "max_partitions"),
        ("max_partitions = 3", "max_rows = 5", "the bounds of a user"),
        ('"b", "c"', '"b", "b"', "expected each of them once"),
        ("lower = 0.0, ", "", "expected lower and upper, lower is missing"),
        ("lower = 0.0, ", "lower = 12.0, ", "lower = 12, upper = 10: expected lower below upper"),
        (LISTED, "", "neither is there"),
        ('count = {noise = "laplace:18"}', 'median = {noise = "laplace:1"}', "median"),
        ('{noise = "laplace:18"}', '{noise = "laplace:18", upper = 2.0}', "only a sum takes"),
        ("sum = {", "mean = {", "a mean needs centre"),
        ("sum = {", "variance = {", "expected mean and count beside it"),
        ("lower = 0.0, ", 'lower = 0.0, norm = "l1", ', "expected norm, max_norm and norm_of"),
        ("lower = 0.0, ", "lower = 0.0, size = 3, ", "a vector-sum needs size"),
        ("sum = {", "vector-sum = {size = 3, ", "only a sum takes lower and upper"),
        ('kept = "uniform"', 'kept = "all"', 'kept = "all" takes no max_partitions'),
        (
            'count = {noise = "laplace:18"}\n',
            'mean = {noise = "laplace:1", lower = 0.0, upper = 1.0, centre = 0}\n',
            "expected count beside it",
        ),
    ],
)
def test_a_claim_that_is_none_is_told(before, after, said) -> None:
    assert before in PUBLIC
    with pytest.raises(ClaimError) as error:
        claim_of(PUBLIC.replace(before, after, 1))
    assert said in str(error.value)


def test_numbers_and_vectors_are_not_claimed_of_one_value() -> None:
    """Catches a list of kinds of numbers that leaves one out."""
    with pytest.raises(ClaimError, match=r"aggregates\.sum: values are vectors"):
        claim_of(VECTOR + 'sum = {noise = "laplace:1", lower = 0.0, upper = 1.0}\n')


def test_bounds_are_taken_by_the_names_of_engines() -> None:
    """PipelineDP's names; catches an alias that sets the other bound."""
    names = PUBLIC.replace("max_partitions", "max_partitions_contributed")
    other = claim_of(names.replace("max_per_partition", "max_contributions_per_partition"))
    assert other.mechanism == claim_of(PUBLIC).mechanism
    with pytest.raises(ClaimError, match="one key"):
        claim_of("max_partitions_contributed = 3\n" + PUBLIC)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (', norm_of = "user"}\nsum', "}\nsum", "expected norm, max_norm and norm_of"),
        ('kept = "all"', 'kept = "any"\nmax_rows = 3', 'norm_of = "user" expects kept = "all"'),
        ('"gaussian:10"', '"discrete-gaussian:10"', "no whole numbers"),
        ("max_norm = 20.0, ", "max_norm = 0.0, ", "greater than 0"),
        ("count = {", "privacy-id-count = {", "only count, sum, vector-sum take norm"),
    ],
)
def test_a_claim_of_norms_that_is_none_is_told(before, after, said) -> None:
    assert before in OF_USER
    with pytest.raises(ClaimError) as error:
        claim_of(OF_USER.replace(before, after, 1))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (', count_noise = "laplace:12"', "", "expected count beside it, or its count_noise"),
        ("mean = {", 'count = {noise = "laplace:12"}\nmean = {', "or its count_noise"),
        ('count_noise = "laplace:12"', 'count_noise = "laplace:12;round"', "expected laplace or"),
        (
            "mean = {",
            'count = {noise = "laplace:1", count_noise = "laplace:2"}\nmean = {',
            "only a mean takes",
        ),
    ],
)
def test_a_claim_of_a_mean_alone_that_is_none_is_told(before, after, said) -> None:
    assert before in ALONE
    with pytest.raises(ClaimError) as error:
        claim_of(ALONE.replace(before, after, 1))
    assert said in str(error.value)
    assert "\n" not in str(error.value)

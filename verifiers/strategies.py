"""Hypothesis strategies for histograms, neighbouring pairs and claims."""

from .kinds.labels.strategies import claims, drawn_votes, examples, histograms, neighbours

__all__ = ["claims", "drawn_votes", "examples", "histograms", "neighbours"]

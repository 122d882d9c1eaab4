"""Tallies: sums of what parties hold, behind masks or encryption, with noise in shares."""

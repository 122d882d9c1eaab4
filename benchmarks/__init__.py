"""Measurements: `python -m benchmarks` prints the table; each row is a ratio within one run."""

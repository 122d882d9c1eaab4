"""Faults of one line in the package, and the tests that must find each."""

"""Noise that is frozen: a deployment in Python, run on two neighbours with the same draws."""

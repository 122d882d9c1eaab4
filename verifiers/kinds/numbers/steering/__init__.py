"""Inputs, sizes of calls and sequences that are steered to decisions of the target's code."""

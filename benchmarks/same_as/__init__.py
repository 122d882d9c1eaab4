"""Deployments beside a reference, through the gate: `python -m benchmarks.same_as`."""

"""Real libraries through the gate for numbers: `python -m benchmarks.field`."""

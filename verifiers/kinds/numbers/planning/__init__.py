"""What a run asks of a deployment that releases numbers."""

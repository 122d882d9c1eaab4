"""What `dpassay init` asks of a target, fits to its answers and writes as a claim."""

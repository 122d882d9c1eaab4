"""What a run asks: the known faults, telling histograms, how often, and in which order."""

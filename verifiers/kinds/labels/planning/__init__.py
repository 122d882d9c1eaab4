"""The plan of a run: known faults, histograms that show them, how many queries, which order."""

"""Files that people hand over: histograms, labels, reports; read with limits, refused by line."""

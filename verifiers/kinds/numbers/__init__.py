"""The gate for aggregators that release numbers: sums, counts, histograms and gradients."""

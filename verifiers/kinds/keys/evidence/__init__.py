"""Wagers on which keys are released: exact ratios of their laws."""

"""Evidence that adds up from run to run, in a file: one error budget for all runs together."""

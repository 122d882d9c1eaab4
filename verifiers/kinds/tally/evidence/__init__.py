"""Evidence about rounds: what parties send, and where a tally lies."""

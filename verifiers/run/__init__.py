"""One run of the gate, whatever is released: where it stands, what it tells, how it ends."""

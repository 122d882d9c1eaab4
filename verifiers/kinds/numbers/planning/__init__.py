"""The inputs that a run asks of a deployment of numbers, and how many releases of each."""

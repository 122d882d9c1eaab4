"""Deployments that release the winning label of a noisy vote."""

"""Deployments that release the keys whose noisy counts pass a threshold."""

"""Deployments that claim no law: pairs of inputs, any outputs, and `[privacy]` alone."""

"""Deployments that claim the law of another: whatever that is, both release the same."""

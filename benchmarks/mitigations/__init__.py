"""From noisy answers to people, and what a deployment can do about it."""

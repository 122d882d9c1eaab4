"""Gradients of a vendor's own model: audits with canaries, and games on what they give away."""

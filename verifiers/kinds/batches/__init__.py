"""Samplers: which records are in each batch of a training."""

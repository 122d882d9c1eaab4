"""Engines: rows of users in, a table of partitions with noisy numbers out."""

"""Evidence on tables: linear statistics of releases, and which partitions come."""

"""What other libraries need of the same tasks; each script runs where its library is installed."""

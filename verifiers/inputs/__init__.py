"""Files from users: histograms, labels, logs. Errors name the line and what is allowed."""

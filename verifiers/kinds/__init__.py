"""What deployments release, a folder for each kind: labels, numbers, keys."""

"""What a deployment says of itself: the tables of every claim, and how its file is read."""

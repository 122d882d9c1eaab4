"""One file for each check of numbers, named as its id: what it sees, and the words it says."""

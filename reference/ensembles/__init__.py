"""Teachers on private records: what they are trained on (`records`), and how (`learners`)."""

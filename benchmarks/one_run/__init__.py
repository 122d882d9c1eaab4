"""One run of real trainings with canaries, its bounds, and those of other libraries."""

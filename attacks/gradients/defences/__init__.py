"""What a learner does to gradients before they leave: Li et al. 2024, section 6.1."""

"""What gradients say of the people of Adult: the study of docs/results/gradients.md."""

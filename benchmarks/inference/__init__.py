"""Inference from votes: who has an attribute (`attributes`), and who trained (`members`)."""

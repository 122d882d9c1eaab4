"""What a run found: verdicts, figures and words, and their public JSON form."""

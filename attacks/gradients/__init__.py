"""What shared gradients say of private records: the inference game of Li et al. 2024.

arXiv 2408.16913. `game.py` is its Definition 3.1. Modules of this folder load JAX, scikit-learn and
optax (the extra `gradients`).
"""

"""What shared gradients say of private records: the inference game of Li et al. 2024.

arXiv 2408.16913. `game.py` is its Definition 3.1. Modules of this folder that train models load JAX
and optax, those that learn from gradients scikit-learn (the extra `gradients`).
"""

"""What shared gradients say of private records: the inference game of Li et al. 2024.

arXiv 2408.16913. `vendor_game.py` plays it on a vendor's model; Definition 3.1 as a whole, and the
study of it, stand in `benchmarks/gradients/`. Modules that train models load JAX and optax, those
that learn from gradients scikit-learn (the extra `gradients`).
"""

"""Instance encoding without noise, and what is read back from it: InstaHide.

InstaHide (Huang et al. 2020, arXiv 2010.02772) mixes images and flips the signs of pixels at
random, and releases the result, with its mixed label, for training. `attack.py` recovers the
private images from many such encodings, as Carlini et al. 2020 did (arXiv 2011.05315). This folder
loads scikit-learn; `pictures.py` loads scikit-image (the extra `pictures`).
"""

from .attack import Recovered, recover
from .instahide import Encodings, encode, normalised

__all__ = ["Encodings", "Recovered", "encode", "normalised", "recover"]

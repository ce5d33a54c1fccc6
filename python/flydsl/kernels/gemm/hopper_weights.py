"""Weights of four bits in the order that `hopper_linear4` takes them in: `hopper/weights.py` has the rest."""

from flydsl.kernels.gemm.hopper.weights import shuffle_weights

__all__ = ["shuffle_weights"]

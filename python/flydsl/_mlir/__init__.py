"""The parts of the original's MLIR bindings that kernels reach for, over this package's own IR."""

"""Copy and matrix atoms, and their repetition over tiles."""

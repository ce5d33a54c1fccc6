"""What may be passed to a jit function, and how each kind crosses into compiled code."""

"""The trace context and what is said to it: parameters, intrinsics, printing."""

"""Calls of jit functions: the full way, the cached way, and what was compiled for which arguments."""

"""Layouts, pointers, tensors, and the verbs on them."""

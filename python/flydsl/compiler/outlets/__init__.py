"""What else compiled code is good for: C programs, operators of PyTorch, reports."""

"""LLVM text read back: instructions, literals, functions."""

"""What a jit function reads from outside: the contract of `docs/cache.md`, section "What is captured"."""

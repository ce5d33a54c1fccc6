"""Run-time control flow: what rewritten code calls."""

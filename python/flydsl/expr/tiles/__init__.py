"""Tiles on their way: which one a block works on, how it comes, and what becomes of it."""

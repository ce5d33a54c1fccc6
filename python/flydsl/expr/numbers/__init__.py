"""Number formats and their arithmetic, folded or emitted."""

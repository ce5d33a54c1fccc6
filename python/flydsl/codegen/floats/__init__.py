"""Float formats and functions, written out in arithmetic."""

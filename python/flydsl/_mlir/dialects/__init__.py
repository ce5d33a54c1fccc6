"""Raw dialect builders under the original's import paths."""

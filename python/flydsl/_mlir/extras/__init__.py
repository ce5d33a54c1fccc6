"""Conveniences of the raw layer."""

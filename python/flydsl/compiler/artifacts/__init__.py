"""Compiled code as data."""

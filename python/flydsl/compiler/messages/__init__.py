"""Errors and warnings in the user's words, with the user's lines."""

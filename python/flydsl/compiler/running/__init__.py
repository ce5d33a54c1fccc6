"""Sanitized code while it runs: its arrays, its checker, its reports."""

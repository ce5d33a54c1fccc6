"""Artifacts brought to life, sanitized ones included."""

"""Logging by the names of the original; `flydsl.base.log` is where it is set up."""

from __future__ import annotations

import logging

from flydsl.base.log import get_logger


def log() -> logging.Logger:
    """Return the package's logger."""
    return get_logger("flydsl")


__all__ = ["get_logger", "log"]

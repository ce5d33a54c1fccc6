"""Logging: what is written where is decided by the environment, in one place.

Modules log through :func:`get_logger` and know nothing else. The compiler calls :func:`configure` when it is first
used; until then, and with nothing set, warnings reach stderr as Python's own default has it.

A *topic* is a report a user switches on by name (``FLYDSL_LOG=recompiles``), whatever the log level.
"""

from __future__ import annotations

import logging
import sys
from typing import TextIO

from flydsl.base import knobs

_ROOT = "flydsl"
_CONSOLE, _FILE = "flydsl.console", "flydsl.file"
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to what ``sys.stderr`` is at the time of the message."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


class _LogFile(logging.FileHandler):
    """A file that cannot be written is said once, and is no reason to stop computing."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except OSError as error:
            root = logging.getLogger(_ROOT)
            root.removeHandler(self)
            root.warning("%s=%s cannot be written: %s", knobs.DEBUG_LOG_TO_FILE.name, self.baseFilename, error.strerror)


def get_logger(name: str) -> logging.Logger:
    """Return the logger of a part of the package: ``get_logger("compiler.cache")`` or ``get_logger(__name__)``."""
    return logging.getLogger(name if name.split(".")[0] == _ROOT else f"{_ROOT}.{name}")


def report(topic: str, message: str) -> None:
    """Tell the user something about a topic on stderr, if ``FLYDSL_LOG`` asks for it."""
    if topic in knobs.LOG.get():
        for line in message.splitlines():
            print(f"[flydsl {topic}] {line}", file=sys.stderr)


def configure() -> logging.Logger:
    """Set the package's logger up from the environment; calling it again follows a changed environment."""
    root = logging.getLogger(_ROOT)
    for handler in root.handlers[:]:
        if handler.name in (_CONSOLE, _FILE):
            root.removeHandler(handler)
            handler.close()
    root.setLevel(knobs.DEBUG_LOG_LEVEL.get())
    if knobs.DEBUG_LOG_TO_CONSOLE.get():
        _add(root, _CONSOLE, _StderrHandler())
    if (path := knobs.DEBUG_LOG_TO_FILE.get()) is not None:
        _add(root, _FILE, _LogFile(path, encoding="utf-8", delay=True))
    for name, similar in knobs.unknown_variables().items():
        root.warning("the environment variable %s means nothing%s", name, f"; is it {similar}?" if similar else "")
    return root


def _add(logger: logging.Logger, name: str, handler: logging.Handler) -> None:
    handler.name = name
    handler.setFormatter(logging.Formatter(_FORMAT))
    logger.addHandler(handler)

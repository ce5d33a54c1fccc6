"""What the running test logs. pytest's own way looks at every logger six times a test, and torch has hundreds."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


class Log(logging.Handler):
    """A handler of the root logger; a message that cannot be formatted is the test's error."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    @property
    def text(self) -> str:
        """All messages so far."""
        return "\n".join(self.lines)

    @contextmanager
    def at_level(self, level: int) -> Iterator[None]:
        """Let the package log messages of a level."""
        logger = logging.getLogger("flydsl")
        before = logger.level
        logger.setLevel(level)
        try:
            yield
        finally:
            logger.setLevel(before)


LOG = Log()

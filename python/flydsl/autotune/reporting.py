"""What a search tells its user: a bar on a terminal, a line a configuration with ``FLYDSL_LOG=autotune``, warnings."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from typing import Any

from flydsl.base.log import report
from flydsl.base.own_code import is_own_file

TOPIC = "autotune"
_CLEAR, _WIDTH = "\r\x1b[K", 120


def warn(message: str) -> None:
    """Warn at the user's line, however deep in this package the reason was found."""
    frame, depth = sys._getframe(1), 2
    while frame is not None and is_own_file(frame.f_code.co_filename):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, RuntimeWarning, stacklevel=depth)


class Progress:
    """Reports the configurations of one search as they are done."""

    def __init__(self, function: str, total: int) -> None:
        self._function = function
        self._total = total
        self._done = 0
        self._terminal = sys.stderr is not None and sys.stderr.isatty() and total > 1
        self._bar = _tqdm(function, total) if self._terminal else None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._terminal and self._done:
            print(_CLEAR, end="", file=sys.stderr, flush=True)

    def step(self, config: Any, outcome: str) -> None:
        """One more configuration is done."""
        self._done += 1
        report(TOPIC, f"{self._function}: {config!r}: {outcome}")
        if self._bar is not None:
            self._bar.update(1)
        elif self._terminal:
            text = f"tuning {self._function}: {self._done}/{self._total}, {config!r}: {outcome}"
            print(_CLEAR + text.splitlines()[0][:_WIDTH], end="", file=sys.stderr, flush=True)


def _tqdm(function: str, total: int) -> Any:
    """tqdm's bar where tqdm is installed."""
    try:
        return import_module("tqdm").tqdm(total=total, desc=f"tuning {function}", leave=False)
    except ImportError:
        return None

"""What a compilation spends its time on, by stage, and a line of progress where it takes long.

The line is written to standard error, and only to a terminal: after two seconds, again every second, and once more at
the end. A compilation that is done sooner writes nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

PATIENCE_SECONDS = 2.0
_EVERY_SECONDS = 1.0


class Progress:
    """One compilation under way, in the thread that entered it; ``stages`` has the seconds of each stage."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.stages: dict[str, float] = {}
        self._entered: list[tuple[str, float]] = []
        self._outer: Progress | None = None
        self._line: _Line | None = None

    def __enter__(self) -> Progress:
        self._outer, _here.progress = _here.progress, self
        self._began = time.perf_counter()
        if self._outer is None and sys.stderr is not None and sys.stderr.isatty():
            self._line = _Line(self)
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        _here.progress = self._outer
        if self._line is not None:
            self._line.end("failed" if failed else "compiled")

    @property
    def seconds(self) -> float:
        """The seconds since the compilation began."""
        return time.perf_counter() - self._began

    @property
    def stage(self) -> str:
        """The stage under way, in words."""
        return self._entered[-1][0] if self._entered else "begins"

    def enter(self, name: str) -> None:
        self._spend()
        self._entered.append((name, time.perf_counter()))

    def leave(self) -> None:
        self._spend()
        self._entered.pop()
        if self._entered:
            self._entered[-1] = (self._entered[-1][0], time.perf_counter())

    def _spend(self) -> None:
        """Count the time since the last change for the innermost stage."""
        if self._entered:
            name, since = self._entered[-1]
            self.stages[name] = self.stages.get(name, 0.0) + time.perf_counter() - since


class _Here(threading.local):
    progress: Progress | None = None


_here = _Here()


@contextmanager
def stage(name: str) -> Generator[None]:
    """Count the block as a stage of this thread's compilation, less the stages inside it."""
    progress = _here.progress
    if progress is None:
        yield
        return
    progress.enter(name)
    try:
        yield
    finally:
        progress.leave()


class _Line:
    """The line on the terminal, written by a thread of its own: the one that compiles is busy in LLVM."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stop = threading.Event()
        self._shown = 0
        self._thread = threading.Thread(target=self._run, name="flydsl-progress", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        wait = PATIENCE_SECONDS
        while not self._stop.wait(wait):
            self._write(f"flydsl: {self._progress.what}: {self._progress.stage}, {self._progress.seconds:.0f} s")
            wait = _EVERY_SECONDS

    def end(self, how: str) -> None:
        self._stop.set()
        self._thread.join()
        if self._shown:
            self._write(f"flydsl: {self._progress.what}: {how} in {self._progress.seconds:.1f} s", "\n")

    def _write(self, text: str, end: str = "") -> None:
        """Write over the line that is there; blanks fill up one that is shorter than the line before."""
        print(f"\r{text:<{self._shown}}", end=end, file=sys.stderr, flush=True)
        self._shown = len(text)

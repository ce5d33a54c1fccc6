"""Running a function as a kernel on the host device, and reading what is refused."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError

MARK = "# here"


def launch(
    body: Callable[..., Any], n: int = 5, *, threads: int = 4, size: int = 0, dtype: Any = np.int32
) -> list[Any]:
    """What ``body(out, n)``, a function or a kernel, writes, run with one block."""
    made = flyc.kernel(body) if isinstance(body, FunctionType) else body

    @flyc.jit
    def host(out: fx.Tensor, n: fx.Int32):
        made(out, n).launch(grid=(1, 1, 1), block=(threads, 1, 1))

    out = np.zeros(size or threads, dtype)
    host(out, n)
    return out.tolist()


def refused(body: Callable[..., Any], error: type[BaseException], *words: str, mark: str = MARK) -> FlyDSLError:
    """The error of a kernel that is refused: of this class, at the line marked in its source, with these words."""
    with pytest.raises(error) as found:
        launch(body)
    raised = found.value
    assert isinstance(raised, FlyDSLError), repr(raised)
    location = raised.location
    assert location is not None
    assert location.file == body.__code__.co_filename
    line = linecache.getline(location.file, location.line)
    assert mark in line, f"points at line {location.line}: {line!r}\n{raised}"
    assert raised.hint, "an error says what to write instead"
    text = str(raised)
    assert f"{location.file}:{location.line}" in text
    for word in words:
        assert word in text, f"{word!r} is not in:\n{text}"
    return raised

"""Tracebacks have the user's frames in them and nothing of this package, and errors name the user's line."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl
import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, FlyDSLError
from flydsl.compiler.kernel_function import CompilationContext
from flydsl.compiler.lowering import driver

PACKAGE = str(Path(flydsl.__file__).parent)


@flyc.kernel
def dividing_kernel(x: fx.Tensor, n: fx.Constexpr[int]):
    if fx.thread_idx.x < 2:
        x[fx.thread_idx.x] = 8 // n


@flyc.jit
def divide(x: fx.Tensor, n: fx.Constexpr[int]):
    dividing_kernel(x, n).launch(block=(4, 1, 1))


@flyc.jit
def parse(x: fx.Tensor):
    json.loads("{")


@flyc.jit
def refused(x: fx.Tensor):
    dividing_kernel(x, 1).launch(block=(4, 1, 1), grid="many")


@flyc.jit
def chained(x: fx.Tensor):
    try:
        {}["missing"]
    except KeyError as error:
        raise LookupError("not in the table") from error


def any_arguments(x: fx.Tensor, **kwargs: Any):
    pass


def frames_of(call: Callable[[], Any], kind: type[Exception]) -> tuple[Exception, list[traceback.FrameSummary]]:
    """The error of a call and the frames below it."""
    try:
        call()
    except kind as error:
        frames = traceback.extract_tb(error.__traceback__)
        assert [frame.name for frame in frames[:2]] == ["frames_of", "<lambda>"]
        return error, list(frames[2:])
    raise AssertionError("nothing was raised")


def ours(frames: list[traceback.FrameSummary]) -> list[str]:
    return [f"{f.filename}:{f.lineno}" for f in frames if f.filename.startswith(PACKAGE) or "contextlib" in f.filename]


def array() -> Any:
    return np.zeros(4, np.int32)


@pytest.mark.parametrize(
    "call",
    [
        lambda: divide(array(), 0),
        lambda: divide(x=array(), n=0),
        lambda: divide.warmup(array(), 0),
        lambda: flyc.compile(divide, array(), 0),
        lambda: flyc.lds_report(divide, array(), 0),
    ],
)
def test_an_error_in_a_kernel(call: Callable[[], Any]) -> None:
    error, frames = frames_of(call, ZeroDivisionError)
    assert not ours(frames)
    assert {frame.filename for frame in frames} == {__file__}
    assert frames[0].name == "divide"
    assert frames[-1].line == "x[fx.thread_idx.x] = 8 // n"
    assert error.__cause__ is None and not error.__suppress_context__


def test_a_library_that_the_kernel_called_stays_in_it() -> None:
    _, frames = frames_of(lambda: parse(array()), json.JSONDecodeError)
    assert not ours(frames)
    assert frames[0].line == 'json.loads("{")' and frames[-1].filename.endswith("decoder.py")


def test_the_cause_stays() -> None:
    error, frames = frames_of(lambda: chained(array()), LookupError)
    assert isinstance(error.__cause__, KeyError) and not ours(frames)


@pytest.mark.parametrize(
    "call",
    [
        lambda: refused(array()),
        lambda: refused(array(), 1, 2),
        lambda: refused(),
        lambda: refused("text"),
        lambda: refused.warmup("text"),
        lambda: flyc.compile(refused, "text"),
        lambda: flyc.export(refused, "text", dir="nowhere"),
        lambda: flyc.lds_report(refused, array()),
        lambda: dividing_kernel(array(), 1),
        lambda: dividing_kernel[1](array(), 1),
        lambda: flyc.kernel(any_arguments),
        lambda: flyc.kernel(name="k")(any_arguments),
        lambda: flyc.jit(any_arguments),
        lambda: flydsl.Config(size=object()),
        lambda: flyc.torch_op(divide),
    ],
)
def test_our_own_errors_have_no_frames_at_all(call: Callable[[], Any]) -> None:
    error, frames = frames_of(call, FlyDSLError)  # type: ignore[arg-type]
    assert not frames
    assert isinstance(error, FlyDSLError) and error.location is not None and error.location.file == __file__


def test_a_compiled_function() -> None:
    made = flyc.compile(divide, array(), 2)
    _, frames = frames_of(lambda: made("text", 2), FlyDSLError)  # type: ignore[arg-type]
    assert not frames


def test_all_frames_for_those_who_ask() -> None:
    with knobs.scope({knobs.DEBUG_TRACEBACK: True}):
        assert ours(frames_of(lambda: divide(array(), 0), ZeroDivisionError)[1])
        assert ours(frames_of(lambda: refused(array()), FlyDSLError)[1])  # type: ignore[arg-type]


def test_a_mistake_of_ours_keeps_its_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of it would be worthless without them."""
    monkeypatch.setattr(driver, "kernel_functions", lambda module: [None])
    _, frames = frames_of(lambda: divide(array(), 3), AttributeError)
    assert ours(frames)


# Places ----------------------------------------------------------------------------------------


def line_of(error: FlyDSLError) -> str:
    assert error.location is not None
    assert error.location.file == __file__
    return Path(__file__).read_text().splitlines()[error.location.line - 1].strip()


def test_an_option_that_llvm_does_not_have() -> None:
    with pytest.raises(ValueError, match="has no option 'no-such-option'") as caught:
        flyc.compile[{"llvm_options": {"no-such-option": True}}](divide, array(), 2)
    assert line_of(caught.value) == 'flyc.compile[{"llvm_options": {"no-such-option": True}}](divide, array(), 2)'  # type: ignore[arg-type]


def test_hints_of_a_block() -> None:
    with pytest.raises(ValueError, match="unknown compile hint 'speed'") as caught:
        with CompilationContext.compile_hints({"speed": 9}):
            pass
    assert line_of(caught.value) == 'with CompilationContext.compile_hints({"speed": 9}):'  # type: ignore[arg-type]


def test_sanitizers_of_a_block() -> None:
    with pytest.raises(ValueError, match="no sanitizer 'ghosts'") as caught:
        with flyc.sanitize("ghosts"):
            pass
    assert line_of(caught.value) == 'with flyc.sanitize("ghosts"):'  # type: ignore[arg-type]


# Calls that Python refuses ---------------------------------------------------------------------


def copy(source: Any, target: Any, how: Any) -> None:
    """Named as a function of fx."""


class Tiles:
    def make_layout(self, shape: Any, stride: Any) -> None:
        """Named as a function of fx."""


@pytest.mark.parametrize("call", [lambda x: copy(x, x), lambda x: Tiles().make_layout(x)])
def test_a_call_of_the_user_s_own_function_stays_as_python_says(call: Any) -> None:
    @flyc.jit
    def host(x: fx.Tensor):
        call(x)

    with pytest.raises(TypeError, match=r"^(copy|Tiles.make_layout)\(\) missing 1 required") as caught:
        host(array())
    assert not isinstance(caught.value, FlyDSLError)


def test_a_call_of_ours_over_several_lines() -> None:
    @flyc.jit
    def host(x: fx.Tensor):
        return fx.make_ordered_layout(  # pyright: ignore[reportCallIssue]
            (4, 8),  # and no order
        )

    with pytest.raises(FlyDSLError, match=r"call of 'make_ordered_layout': missing 1 required"):
        host(array())


# Folders ---------------------------------------------------------------------------------------


def test_an_export_to_what_is_no_folder(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    for folder in (blocked, blocked / "deeper"):
        with pytest.raises(DslRuntimeError, match="the export cannot be written to dir=") as caught:
            flyc.export(divide, array(), 2, dir=folder)
        assert str(folder) in str(caught.value) and "name a folder that you can write" in str(caught.value)
        assert line_of(caught.value) == "flyc.export(divide, array(), 2, dir=folder)"

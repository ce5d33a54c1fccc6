"""Jit functions and kernels as Python objects: what can be decorated, their names, pickling."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslTypeError
from tests.unit.cache.small import new_function


async def waits(x: fx.Tensor) -> None:
    """An async function."""


async def gives(x: fx.Tensor) -> AsyncIterator[int]:
    """An async generator."""
    yield 1


@pytest.mark.parametrize("func", [waits, gives])
@pytest.mark.parametrize(
    ("decorator", "name"),
    [(flyc.jit, "jit"), (flyc.jit(), "jit"), (flyc.kernel, "kernel"), (flyc.kernel(name="other"), "kernel")],
)
def test_async_functions_are_refused(func: Any, decorator: Any, name: str) -> None:
    with pytest.raises(DslTypeError, match=f"@flyc.{name} cannot decorate 'async def {func.__name__}'") as caught:
        decorator(func)
    location = caught.value.location
    assert location is not None
    assert (location.file, location.line) == (__file__, func.__code__.co_firstlineno)
    assert "write `def`" in str(caught.value)


@pytest.mark.parametrize("decorator", [flyc.jit, flyc.kernel, flyc.kernel(name="other")])
def test_only_functions_are_decorated(decorator: Any) -> None:
    with pytest.raises(DslTypeError, match="decorates a function, got int"):
        decorator(3)


@flyc.kernel
def fill_kernel(out: fx.Tensor, value: fx.Constexpr[int]):
    """Fills."""
    out[fx.thread_idx.x] = value


@flyc.jit
def fill(out: fx.Tensor, value: fx.Constexpr[int] = 7):
    """Launches it."""
    fill_kernel(out, value).launch(block=(4, 1, 1))


class Filler:
    """Has one as a method."""

    @flyc.jit
    def fill(self, out: fx.Tensor):
        fill_kernel(out, 3).launch(block=(4, 1, 1))


def test_names() -> None:
    assert (fill.__name__, fill.__qualname__, fill.__module__) == ("fill", "fill", __name__)
    assert (fill_kernel.__name__, fill_kernel.__module__, fill_kernel.__doc__) == ("fill_kernel", __name__, "Fills.")
    assert Filler.fill.__qualname__ == "Filler.fill"


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """This file as a module that pickling finds, as a user's own module is."""
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or _this_module())


def _this_module() -> Any:
    made = type(sys)(__name__)
    made.__dict__.update(globals())
    return made


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("made", [fill, fill_kernel])
def test_pickled_by_name(made: Any, protocol: int, importable: None) -> None:
    data = pickle.dumps(made, protocol)
    assert len(data) < 200, "a name, not the function"
    assert pickle.loads(data) is made
    assert copy.copy(made) is made and copy.deepcopy(made) is made


def test_a_method_is_pickled_too(importable: None) -> None:
    assert pickle.loads(pickle.dumps(Filler.fill)) is Filler.fill


def test_one_that_no_name_leads_to(importable: None) -> None:
    with pytest.raises(DslTypeError, match="a jit function is pickled by its name") as caught:
        pickle.dumps(new_function())
    assert "top level of a module" in str(caught.value)


def test_a_copy_is_the_function_itself() -> None:
    made = new_function()
    assert copy.copy(made) is made and copy.deepcopy({"run": made})["run"] is made


def test_another_process_calls_it(tmp_path: Path) -> None:
    (tmp_path / "filling.py").write_text(
        "import flydsl.compiler as flyc, flydsl.expr as fx\n\n\n"
        "@flyc.kernel\ndef fill_kernel(out: fx.Tensor):\n    out[fx.thread_idx.x] = 9\n\n\n"
        "@flyc.jit\ndef fill(out: fx.Tensor):\n    fill_kernel(out).launch(block=(4, 1, 1))\n"
    )
    make = "import pickle, sys, filling; sys.stdout.buffer.write(pickle.dumps(filling.fill))"
    use = (
        "import pickle, sys, numpy as np; f = pickle.load(sys.stdin.buffer); x = np.zeros(4, np.int32); f(x);"
        "print(x.tolist())"
    )
    made = subprocess.run([sys.executable, "-c", make], cwd=tmp_path, capture_output=True, env=_environment(tmp_path))
    assert made.returncode == 0, made.stderr.decode()
    used = subprocess.run(
        [sys.executable, "-c", use], input=made.stdout, cwd=tmp_path, capture_output=True, env=_environment(tmp_path)
    )
    assert used.stdout.decode().strip() == "[9, 9, 9, 9]", used.stderr.decode()


def _environment(folder: Path) -> dict[str, str]:
    import os

    import flydsl

    package = str(Path(flydsl.__file__).parent.parent)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([package, str(folder)])}


def test_the_pickled_one_works() -> None:
    out = np.zeros(4, np.int32)
    fill(out)
    assert out.tolist() == [7] * 4
    Filler().fill(out)
    assert out.tolist() == [3] * 4

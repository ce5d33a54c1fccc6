"""What people bring along from NumPy and torch: what of it works, and that the advice for the rest is true."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslAttributeError, DslTypeError
from flydsl.compiler.messages import python_errors
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace import habits
from flydsl.expr.values import foreign
from tests.support import random_data
from tests.unit.control_flow.running import launch

TABLES: Mapping[str, tuple[Mapping[str, str], Any]] = {
    "tensor": (habits.TENSOR, Tensor),
    "vector": (habits.VECTOR, fx.Vector),
    "number": (habits.NUMBER, fx.Float32),
    "class": (habits.CLASS, fx.Float32),
    "language": (habits.LANGUAGE, fx),
}


@pytest.mark.parametrize("kind", TABLES)
def test_advice_names_what_there_is_for_what_there_is_not(kind: str) -> None:
    table, owner = TABLES[kind]
    for name, advice in table.items():
        assert not hasattr(owner, name), f"{kind} has {name!r} now"
        check_names(advice)


def test_advice_for_python_s_errors_names_what_there_is() -> None:
    for kind in (python_errors.TENSOR, python_errors.VECTOR, python_errors.NUMBER, python_errors.OTHER):
        for advice in kind.advice.values():
            check_names(advice)
    for advice in foreign._ELSEWHERE.values():
        check_names(advice)


def check_names(advice: str) -> None:
    """Every `fx.name`, and every attribute of a tensor or vector in the advice, exists."""
    for path in re.findall(r"\bfx((?:\.\w+)+)", advice):
        found: Any = fx
        for name in path[1:].split("."):
            found = getattr(type(found) if isinstance(found, fx.Tuple3D) else found, name)
    for letter, owner in (("t", Tensor), ("v", fx.Vector), ("x", fx.Int32)):
        for name in re.findall(rf"\b{letter}\.(\w+)", advice):
            assert hasattr(owner, name) or hasattr(Tensor, name), f"{name} in {advice!r}"


def test_every_function_of_another_library_has_the_name_that_is_told() -> None:
    for name in foreign._SAME_NAME:
        assert callable(getattr(fx, name)), name


NUMPY_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda c, x: c + x,
    "difference": lambda c, x: c - x,
    "product": lambda c, x: c * x,
    "quotient": lambda c, x: c / x,
    "floor quotient": lambda c, x: c // x,
    "remainder": lambda c, x: c % x,
    "reflected": lambda c, x: x - c,
    "less": lambda c, x: c < x,
    "at least": lambda c, x: c >= x,
    "equal": lambda c, x: c == x,
}


@pytest.mark.parametrize("name", NUMPY_OPERATORS)
@pytest.mark.parametrize("constant", [np.float32(2.5), np.float64(-0.75), np.int32(3), np.int64(-2)], ids=repr)
def test_a_number_of_numpy_on_either_side(name: str, constant: Any) -> None:
    operator = NUMPY_OPERATORS[name]

    def body(out: fx.Tensor, n: fx.Int32):
        value = fx.Float32(fx.thread_idx.x + 1)
        vector = fx.full(2, value)
        out[2 * fx.thread_idx.x] = fx.Float32(operator(constant, value))
        out[2 * fx.thread_idx.x + 1] = fx.Float32(operator(constant, vector)[1])

    plain = math.fmod if name == "remainder" else operator  # the dividend's sign, at run time
    exact = [float(plain(float(constant), float(t))) for t in (1, 2, 3, 4) for _ in range(2)]
    np.testing.assert_allclose(launch(body, size=8, dtype=np.float32), exact, rtol=1e-6)


def test_an_array_of_numpy_beside_a_number_is_an_array_of_numbers() -> None:
    weights = random_data.generator().integers(-9, 9, 5)

    def body(out: fx.Tensor, n: fx.Int32):
        products = weights * n
        for i, product in enumerate(products):
            out[i] = product
        out[5] = (n + weights).sum()

    exact = [int(w) * 6 for w in weights]
    assert launch(body, 6, threads=1, size=6) == [*exact, int(weights.sum()) + 30]


def test_numpy_computes_with_numbers_known_while_tracing() -> None:
    assert np.exp(fx.Float32(0.5)) == pytest.approx(math.exp(0.5))
    assert isinstance(np.float32(2) * fx.Int32(3), fx.Float32)
    assert f"{fx.Int32(7):03d} {fx.Float32(0.5):.2f} {fx.Int32(7)}" == "007 0.50 Int32(7)"


def test_a_colon_keeps_a_mode() -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor, x: fx.Tensor):
        column = x[:, 2]
        out[0] = column[3]
        rows = x[1, :].load()
        x[1, :] = rows[:] + 1.0
        turned = fx.Vector.from_elements([x[i, j] for i in range(4) for j in range(5)], fx.Float32).reshape(4, 5)
        x[2, :] = turned[1, :]
        out[:] = x[1, :].load()

    @flyc.jit
    def host(out: fx.Tensor, x: fx.Tensor):
        kernel(out, x).launch(grid=(1, 1, 1), block=(1, 1, 1))

    x = random_data.generator().standard_normal((4, 5)).astype(np.float32)
    out, before = np.full(5, np.nan, np.float32), x.copy()
    host(flyc.from_dlpack(out), flyc.from_dlpack(x))
    np.testing.assert_array_equal(x[1], before[1] + 1)
    np.testing.assert_array_equal(x[2], x[1])
    np.testing.assert_array_equal(out, x[1])


def torch_mistakes() -> list[str]:
    return ["torch.exp(x[0])", "torch.maximum(x[0], x[1])", "torch.exp(x)", "torch.where(n > 0, x[0], x[1])"]


@pytest.mark.parametrize("expression", torch_mistakes())
def test_functions_of_torch_are_refused(expression: str) -> None:
    torch = pytest.importorskip("torch", reason="its functions are what is tried")
    code = compile(ast.parse(expression, mode="eval"), "kernel", "eval")

    def body(x: fx.Tensor, n: fx.Int32):
        eval(code, {"torch": torch, "x": x, "n": n})

    with pytest.raises(DslTypeError, match=r"torch\.\w+ computes now") as error:
        launch(body, dtype=np.float32)
    assert error.value.hint is not None and re.search(r"fx\.\w+\(|select", error.value.hint)


def test_a_missing_name_outside_a_kernel_is_python_s_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'program_id'") as error:
        fx.program_id(0)
    assert not isinstance(error.value, DslAttributeError)
    assert not hasattr(fx.Float32(1), "exp")


def test_an_error_about_other_values_stays_what_it_is() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        out[0] = len(3)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="object of type 'int' has no len") as error:
        launch(body)
    assert type(error.value) is TypeError


def test_an_error_that_the_kernel_catches_is_python_s() -> None:
    def body(out: fx.Tensor, n: fx.Int32):
        try:
            count = out.size  # type: ignore[attr-defined]
        except AttributeError:
            count = 3
        out[0] = count

    assert launch(body)[0] == 3

"""Jit functions as torch operators: eager, compiled and NumPy agree; what torch is told is true; mistakes are named."""

from __future__ import annotations

import importlib
import itertools
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.kernels.norm.softmax import build_softmax_module

pytestmark = [
    pytest.mark.torch,
    # torch's own modules warn about each other when its compiler is first imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning:torch.*"),
]

BLOCK = 64
_numbers = itertools.count()


def fresh(name: str) -> str:
    """A name that no test has registered before."""
    return f"fly_tests::{name}{next(_numbers)}"


@flyc.kernel
def blend_kernel(x: fx.Tensor, y: fx.Tensor, n: fx.Int32, scale: fx.Float32, power: fx.Constexpr[int]):
    i = fx.block_idx.x * BLOCK + fx.thread_idx.x
    if i < n:
        value = x[i] * scale
        for _ in fx.range_constexpr(power - 1):
            value = value * x[i]
        y[i] = value


@flyc.jit
def blend(
    x: fx.Tensor, y: fx.Tensor, n: fx.Int32, scale: fx.Float32 = 2.0,  # pyright: ignore[reportArgumentType]
    power: fx.Constexpr[int] = 1, stream: fx.Stream = fx.Stream(None),
):  # fmt: skip
    blend_kernel(x, y, n, scale, power).launch(grid=(fx.ceildiv(n, BLOCK), 1, 1), block=(BLOCK, 1, 1), stream=stream)


@flyc.kernel
def parts_kernel(x: fx.Tensor, whole: fx.Tensor, rest: fx.Tensor, n: fx.Int32):
    i = fx.block_idx.x * BLOCK + fx.thread_idx.x
    if i < n:
        whole[i] = fx.math.floor(x[i])
        rest[i] = x[i] - fx.math.floor(x[i])


@flyc.jit
def parts(x: fx.Tensor, whole: fx.Tensor, rest: fx.Tensor, n: fx.Int32):
    parts_kernel(x, whole, rest, n).launch(grid=(fx.ceildiv(n, BLOCK), 1, 1), block=(BLOCK, 1, 1))


@pytest.fixture(params=["aot_eager", "inductor"])
def backend(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A backend of `torch.compile`; inductor writes C++ here, since the tensors are the host's."""
    if request.param != "inductor":
        yield request.param
        return
    found = next(filter(has_openmp, ("g++", "clang++-22", "clang++")), None)
    if found is None:
        pytest.skip("inductor needs a C++ compiler with OpenMP, and there is none")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    config = importlib.import_module("torch._inductor.config")
    vectors = importlib.import_module("torch._inductor.cpu_vec_isa")
    monkeypatch.setattr(vectors, "valid_vec_isa_list", list)  # and no trial of them, which is a program for each kind
    quick = {"compile_threads": 1, "cpp_cache_precompile_headers": False, "cpp.simdlen": 1}
    with config.patch({"cpp.cxx": (found,), **quick}):
        yield request.param


def has_openmp(compiler: str) -> bool:
    if shutil.which(compiler) is None:
        return False
    command = [compiler, "-fopenmp", "-x", "c++", "-fsyntax-only", "-"]
    return subprocess.run(command, input=b"#include <omp.h>", capture_output=True).returncode == 0


def compiled(torch: ModuleType, function: Any, backend: Any) -> Any:
    torch.compiler.reset()
    return torch.compile(function, fullgraph=True, backend=backend)


def test_compiled_equals_eager_equals_numpy(torch: ModuleType, backend: str) -> None:
    """A mutating and a functional operator among torch's own, sizes changing from call to call. What torch does before
    is no C++, and what it does after one loop of it, which reads what either operator left: each takes seconds."""
    blended = flyc.torch_op(blend, name=fresh("blend"), mutates=("y",))
    split = flyc.torch_op(parts, name=fresh("parts"), returns={"rest": like, "whole": like})

    def step(x: Any, scale: float) -> Any:
        y = torch.sort(x).values
        blended(x, y, x.shape[0], scale, power=3)
        whole, rest = split(y, x.shape[0])
        return torch.relu(whole) + rest * 0.5 + y

    run = compiled(torch, step, backend)
    for n in (65, 1000, 4099):
        x = torch.randn(n)
        torch._dynamo.mark_dynamic(x, 0)
        blend_of_x = np.float64(0.75) * x.double().numpy() ** 3
        whole = np.floor(blend_of_x)
        exact = np.maximum(whole, 0) + 0.5 * (blend_of_x - whole) + blend_of_x
        np.testing.assert_allclose(step(x, 0.75).numpy(), exact, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(run(x, 0.75), step(x, 0.75), rtol=0, atol=0)


def test_a_mutation_of_an_input_is_seen_by_the_caller(torch: ModuleType) -> None:
    op = flyc.torch_op(blend, name=fresh("blend"), mutates=("y",))

    def step(x: Any, y: Any) -> Any:
        before = y + 1  # read before the operator writes
        op(x, y, x.shape[0])
        return before, y * 2

    run = compiled(torch, step, "aot_eager")
    x = torch.randn(100)
    for call in (step, run):
        y = torch.zeros(100)
        before, after = call(x, y)
        exact = 2 * x.double().numpy()
        np.testing.assert_array_equal(before.numpy(), np.ones(100))
        np.testing.assert_allclose(y.numpy(), exact, rtol=1e-6)
        np.testing.assert_allclose(after.numpy(), 2 * exact, rtol=1e-6)


@flyc.kernel
def swap_kernel(x: fx.Tensor, y: fx.Tensor, both: fx.Constexpr[bool]):
    i = fx.thread_idx.x
    held = y[i]
    y[i] = x[i]
    if fx.const_expr(both):
        x[i] = held


@flyc.jit
def swap(x: fx.Tensor, y: fx.Tensor, both: fx.Constexpr[bool] = False):
    swap_kernel(x, y, both).launch(grid=(1, 1, 1), block=(8, 1, 1))


def test_what_the_code_writes_must_be_said(torch: ModuleType) -> None:
    x, y = torch.randn(8), torch.zeros(8)
    wrong = flyc.torch_op(swap, name=fresh("swap"), mutates=("x",))
    with pytest.raises(DslValueError, match=r"the operator of 'swap' writes 'y', which it does not say") as error:
        wrong(x, y)
    assert "y[i] = x[i]" in str(error.value) and "mutates=('x', 'y')" in str(error.value)
    assert (y == 0).all(), "the first call is looked at before anything runs"

    op = flyc.torch_op(swap, name=fresh("swap"), mutates=("y",))
    op(x, y)
    torch.testing.assert_close(y, x, rtol=0, atol=0)
    with pytest.raises(DslValueError, match="writes 'x'"):  # another specialisation does more
        op(x, y, both=True)
    op(x, y)


def test_results_that_the_operator_makes(torch: ModuleType) -> None:
    op = flyc.torch_op(parts, name=fresh("parts"), returns={"rest": like, "whole": like})

    def step(x: Any) -> Any:
        whole, rest = op(x, x.shape[0])
        return whole * 3, rest - x

    run = compiled(torch, step, "aot_eager")
    x = torch.randn(777) * 10
    exact = x.double().numpy()
    for call in (step, run):
        three, less = call(x)
        np.testing.assert_allclose(three.numpy(), 3 * np.floor(exact), rtol=1e-6)
        np.testing.assert_allclose(less.numpy(), -np.floor(exact), rtol=1e-5)


def like(x: Any) -> Any:
    return x.new_empty(x.shape)


def test_one_compilation_serves_all_sizes(torch: ModuleType) -> None:
    op = flyc.torch_op(blend, name=fresh("blend"), returns={"y": like})
    counter = importlib.import_module("torch._dynamo.testing").CompileCounterWithBackend("aot_eager")

    def step(x: Any) -> Any:
        return op(x, x.shape[0], 0.5).sum() + x.shape[0]

    run = compiled(torch, step, counter)
    for n in (33, 65, 1000):
        x = torch.randn(n)
        torch._dynamo.mark_dynamic(x, 0)
        exact = 0.5 * x.double().numpy().sum() + n
        np.testing.assert_allclose(run(x).item(), exact, rtol=1e-4)
    assert counter.frame_count == 1, "a new size was compiled again"


def test_torch_checks_what_it_was_told(torch: ModuleType) -> None:
    """`opcheck`: the schema, the fake kernel, and static and dynamic tracing."""
    x = torch.randn(130)
    in_place = flyc.torch_op(blend, name=fresh("blend"), mutates=("y",))
    torch.library.opcheck(in_place, (x, torch.empty(130), 130, 0.5), {"power": 2})
    made = flyc.torch_op(blend, name=fresh("blend"), returns={"y": like})
    torch.library.opcheck(made, (x, 130))
    both = flyc.torch_op(parts, name=fresh("parts"), mutates=("rest",), returns={"whole": like})
    torch.library.opcheck(both, (x, torch.empty(130), 130))


def test_a_mutation_that_was_not_declared_is_found(torch: ModuleType) -> None:
    op = flyc.torch_op(parts, name=fresh("parts"), mutates=("whole",))
    with pytest.raises(Exception, match="mutat"):
        torch.library.opcheck(op, (torch.randn(64), torch.zeros(64), torch.zeros(64), 64))


def test_a_kernel_with_barriers_and_a_backward(torch: ModuleType) -> None:
    columns = 100
    softmax = build_softmax_module(8, columns, "f32")

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(output)

    def backward(ctx: Any, grad: Any) -> Any:
        (y,) = ctx.saved_tensors
        return y * (grad - (grad * y).sum(1, keepdim=True)), None

    made = {"C": lambda A: A.new_empty(A.shape)}
    op = flyc.torch_op(softmax, name=fresh("softmax"), returns=made, backward=backward, setup_context=setup)
    x = torch.randn(9, columns, requires_grad=True)
    weight = torch.randn(9, columns)
    run = compiled(torch, lambda t: (op(t, t.shape[0]) * weight).sum(), "aot_eager")
    gradients = []
    for call in (run, lambda t: (op(t, t.shape[0]) * weight).sum(), lambda t: (t.softmax(1) * weight).sum()):
        x.grad = None
        call(x).backward()
        gradients.append(x.grad)
    torch.testing.assert_close(gradients[0], gradients[2], rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(gradients[1], gradients[2], rtol=1e-4, atol=1e-6)
    torch.library.opcheck(op, (x, 9))


def test_a_given_fake_is_used(torch: ModuleType) -> None:
    called = []

    def fake(x: Any, n: int, scale: float = 2.0, power: int = 1) -> Any:
        called.append(n)
        return torch.empty_like(x)

    op = flyc.torch_op(blend, name=fresh("blend"), returns={"y": like}, fake=fake)
    with torch._subclasses.FakeTensorMode():
        assert op(torch.empty(5), 5).shape == (5,)
    assert called == [5]


def test_the_schema(torch: ModuleType) -> None:
    seven = fx.Int32(7)

    @flyc.jit
    def many(
        x: fx.Tensor, flag: fx.Boolean, wide: fx.Int64, half: fx.Float16, y: fx.Tensor, z: fx.Tensor,
        mode: fx.Constexpr[str] = 'a"b', stream: fx.Stream = fx.Stream(None), size: fx.Constexpr[int] = 4,
        number: fx.Int32 = seven,
    ):  # fmt: skip
        pass

    op = flyc.torch_op(many, name=fresh("many"), mutates=("z", "x"), returns={"y": like})
    text = str(op._opoverload._schema).partition("(")[2]
    assert text == (
        "Tensor(a1!) x, bool flag, SymInt wide, float half, Tensor(a0!) z, "
        'str mode="a\\"b", int size=4, SymInt number=7) -> Tensor'
    )


def test_a_tensor_that_may_be_missing(torch: ModuleType) -> None:
    @flyc.jit
    def scaled(x: fx.Tensor, y: fx.Tensor, weight: fx.Tensor | None = None, power: fx.Constexpr[int] | None = None):
        if weight is None:
            blend_kernel(x, y, 64, 2.0, power or 1).launch(block=(BLOCK, 1, 1))
        else:
            blend_kernel(weight, y, 64, 3.0, power or 1).launch(block=(BLOCK, 1, 1))

    op = flyc.torch_op(scaled, name=fresh("missing"), mutates=("y",))
    assert "Tensor? weight=None, int? power=None" in str(op._opoverload._schema)
    x, y, weight = torch.randn(64), torch.zeros(64), torch.randn(64)
    op(x, y)
    assert torch.equal(y, x * 2)
    op(x, y, weight)
    assert torch.equal(y, weight * 3)
    op(x, y, None, 2)
    assert torch.equal(y, x * 2 * x)


def test_as_a_decorator(torch: ModuleType) -> None:
    @flyc.torch_op(name=fresh("twice"), mutates=["y"])
    @flyc.jit
    def twice(x: fx.Tensor, y: fx.Tensor):
        blend_kernel(x, y, 8, 2.0, 1).launch(grid=(1, 1, 1), block=(BLOCK, 1, 1))

    y = torch.zeros(8)
    twice(torch.ones(8), y)
    assert y.tolist() == [2.0] * 8


def untyped(torch: ModuleType) -> Any:
    @flyc.jit
    def nameless(x: fx.Tensor, n):  # pyright: ignore[reportMissingParameterType]
        pass

    return flyc.torch_op(nameless, mutates=("x",))


def of_a_type(torch: ModuleType) -> Any:
    @flyc.jit
    def typed(x: fx.Tensor, kind: fx.Constexpr[type]):
        pass

    return flyc.torch_op(typed, mutates=("x",))


def of_a_layout(torch: ModuleType) -> Any:
    @flyc.jit
    def laid(x: fx.Tensor, layout: fx.Layout):
        pass

    return flyc.torch_op(laid, mutates=("x",))


NO_MAKER: Any = {"y": 3}
MISTAKES = [
    (untyped, DslTypeError, "parameter 'n' of 'nameless' has no annotation"),
    (of_a_type, DslTypeError, "parameter 'kind' of 'typed' is compile-time, and torch cannot pass its value"),
    (of_a_layout, DslTypeError, "parameter 'layout' of 'laid' is a Layout, which torch has no type for"),
    (lambda t: flyc.torch_op(like, mutates=("x",)), DslTypeError, "takes a jit function, got function"),
    (lambda t: flyc.torch_op(blend), DslValueError, "no effect that torch knows of"),
    (lambda t: flyc.torch_op(blend, mutates="y"), DslTypeError, "mutates='y' is one string"),
    (lambda t: flyc.torch_op(blend, mutates=("z",)), DslValueError, "mutates names 'z', which is no tensor parameter"),
    (lambda t: flyc.torch_op(blend, mutates=("n",)), DslValueError, "its tensors are x, y"),
    (lambda t: flyc.torch_op(blend, returns={"q": like}), DslValueError, "returns names 'q'"),
    (lambda t: flyc.torch_op(blend, mutates=("y",), returns={"y": like}), DslValueError, "in mutates and in returns"),
    (lambda t: flyc.torch_op(blend, returns=NO_MAKER), DslTypeError, r"returns\['y'\] is a int"),
    (lambda t: flyc.torch_op(blend, returns={"y": lambda y: y}), DslValueError, "the maker of 'y' asks for 'y'"),
    (lambda t: flyc.torch_op(blend, name="a b", mutates=("y",)), DslValueError, "'a b' is no operator name"),
    (
        lambda t: flyc.torch_op(blend, name="aten::relu", mutates=("y",)),
        DslValueError,
        "an operator aten::relu already",
    ),
]


@pytest.mark.parametrize(("make", "error", "text"), MISTAKES, ids=[text[:40] for _, _, text in MISTAKES])
def test_mistakes_are_named(torch: ModuleType, make: Any, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        make(torch)


def test_a_name_is_taken_once(torch: ModuleType) -> None:
    name = fresh("blend")
    flyc.torch_op(blend, name=name, mutates=("y",))
    with pytest.raises(DslValueError, match=f"torch has an operator {name} already"):
        flyc.torch_op(blend, name=name, mutates=("y",))


def test_without_torch_it_says_so() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import flydsl.compiler as flyc, flydsl.expr as fx\n"
        "def f(x: fx.Tensor): pass\n"
        "flyc.torch_op(flyc.jit(f), mutates=('x',))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "flyc.torch_op needs PyTorch, which is not installed" in done.stderr


def test_a_strided_tensor_is_told_to_be_contiguous(torch: ModuleType) -> None:
    """`from_dlpack`, which helps elsewhere, cannot be passed to an operator."""
    op = flyc.torch_op(blend, name=fresh("strided"), mutates=("y",))
    y = torch.zeros(64)
    for _ in range(2):
        with pytest.raises(
            RuntimeError, match=r"(?s)argument 'x'.*no dimension of stride 1.*help: pass x.contiguous\(\)"
        ):
            op(torch.ones(128)[::2], y, 64)
    op(torch.ones(128)[::2].contiguous(), y, 64)
    assert torch.equal(y, torch.full((64,), 2.0))


def test_keyword_only_parameters(torch: ModuleType) -> None:
    @flyc.jit
    def blended(x: fx.Tensor, y: fx.Tensor, *, n: fx.Int32, scale: fx.Float32 = 2.0):  # type: ignore[assignment]
        blend_kernel(x, y, n, scale, 1).launch(grid=(1, 1, 1), block=(BLOCK, 1, 1))

    op = flyc.torch_op(blended, name=fresh("keyword"), mutates=("y",))
    x, y = torch.randn(64), torch.zeros(64)
    op(x, y, n=64)
    assert torch.equal(y, x * 2)
    op(x, y, n=64, scale=3.0)
    assert torch.equal(y, x * 3)

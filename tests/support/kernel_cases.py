"""Runs of the kernels and examples on torch tensors, ready for any device and stream, with what is right in float64.

A case owns its tensors: ``refill`` gives the inputs new values, ``run`` launches, ``check`` compares a result.
Outputs lie between guard rows, which nobody may write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from flydsl.kernels.gemm.hopper_matmul import hopper_gemm
from flydsl.kernels.gemm.naive import build_naive_gemm_module
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm, shuffle_weight
from flydsl.kernels.gemm.tiled import build_tiled_gemm_module
from flydsl.kernels.norm.layernorm import build_layernorm_module
from flydsl.kernels.norm.rmsnorm import build_rmsnorm_module
from flydsl.kernels.norm.softmax import build_softmax_module
from tests.kernels.examples import load

DTYPES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}
ROUNDING = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
"""Relative error of rounding the result to its type."""
SMALLEST = {"f32": 0.0, "f16": 2.0**-25, "bf16": 0.0}
"""Absolute error of rounding a subnormal result; those of the others are too small to occur."""
INSIDE = 4e-6
"""Error of computing in f32, relative to the largest of a row, or to the magnitude of a sum."""


@dataclass(frozen=True)
class Case:
    """One kernel on tensors of its own."""

    run: Callable[[Any], Any]
    """Launch it on a stream, None for the default one."""
    inputs: tuple[Any, ...]
    out: Any
    expected: Callable[[], tuple[Any, Any]]
    """(what is right, how far off each element may be), both in float64."""
    guards: tuple[Any, ...] = field(default=())

    def refill(self) -> None:
        """New random inputs in the same memory."""
        for tensor in self.inputs:
            tensor.copy_(tensor.float().normal_() * 3 + 1)

    def poison(self) -> None:
        self.out.fill_(float("nan"))

    def check(self, got: Any) -> None:
        """Compare every element; a NaN that is still there is within no bound."""
        want, bound = self.expected()
        error = (got.double() - want).abs()
        right = error <= bound
        assert bool(right.all()), f"{int((~right).sum())} of {right.numel()} are wrong, the worst by {error.max()}"
        for guard in self.guards:
            assert bool(guard.isnan().all()), "rows beside the output were written"


def guarded(torch: Any, rows: int, columns: int, dtype: Any, device: str) -> tuple[Any, tuple[Any, ...]]:
    """An output between two rows of NaN, and those rows."""
    whole = torch.full((rows + 2, columns), float("nan"), dtype=dtype, device=device)
    return whole[1:-1], (whole[0], whole[-1])


def random(torch: Any, shape: tuple[int, ...], dtype: Any, device: str) -> Any:
    return (torch.randn(shape, device=device) * 3 + 1).to(dtype)


# Rows ----------------------------------------------------------------------------------------------------------------

ROW_KERNELS = ("softmax", "rmsnorm", "layernorm")
EPSILON = 1e-5


def row_case(torch: Any, name: str, dtype: str, shape: tuple[int, int], device: str) -> Case:
    rows, columns = shape
    kind = getattr(torch, DTYPES[dtype])
    x = random(torch, shape, kind, device)
    gamma, beta = (random(torch, (columns,), kind, device) for _ in range(2))
    out, guards = guarded(torch, rows, columns, kind, device)
    inputs = {"softmax": (x,), "rmsnorm": (x, gamma), "layernorm": (x, gamma, beta)}[name]
    if name == "softmax":
        kernel = build_softmax_module(rows, columns, dtype)
    else:
        kernel = {"rmsnorm": build_rmsnorm_module, "layernorm": build_layernorm_module}[name](columns, dtype, EPSILON)

    def expected() -> tuple[Any, Any]:
        want = row_reference(torch, name, *(tensor.double() for tensor in inputs))
        largest = want.abs().amax(1, keepdim=True)
        return want, ROUNDING[dtype] * 1.01 * want.abs() + SMALLEST[dtype] + INSIDE * largest

    return Case(lambda stream: kernel(*inputs, out, rows, stream), inputs, out, expected, guards)


def row_reference(torch: Any, name: str, x: Any, gamma: Any = None, beta: Any = None) -> Any:
    if name == "softmax":
        return torch.softmax(x, dim=1)
    if name == "rmsnorm":
        return x / ((x * x).mean(1, keepdim=True) + EPSILON).sqrt() * gamma
    centred = x - x.mean(1, keepdim=True)
    return centred / ((centred * centred).mean(1, keepdim=True) + EPSILON).sqrt() * gamma + beta


# Matrix products -----------------------------------------------------------------------------------------------------

GEMMS = ("naive", "tiled 64", "tiled 128")


def gemm_case(torch: Any, name: str, dtype: str, extents: tuple[int, int, int], device: str) -> Case:
    """C = A B^T in f32."""
    m, n, k = extents
    kind = getattr(torch, DTYPES[dtype])
    a, b = (random(torch, shape, kind, device) for shape in ((m, k), (n, k)))
    out, guards = guarded(torch, m, n, torch.float32, device)
    if name == "naive":
        naive = build_naive_gemm_module()
        run = lambda stream: naive(a, b, out, m, n, k, stream)  # noqa: E731
    else:
        side = int(name.split()[1])
        tiled = build_tiled_gemm_module(n, k, dtype, side, side)
        run = lambda stream: tiled(a, b, out, m, stream)  # noqa: E731
    return Case(run, (a, b), out, lambda: product_of(a, b), guards)


def product_of(a: Any, b: Any, rounding: float = 0.0) -> tuple[Any, Any]:
    wide = a.double(), b.double()
    want, magnitude = wide[0] @ wide[1].T, wide[0].abs() @ wide[1].abs().T
    return want, INSIDE * magnitude + rounding * want.abs()


def hopper_case(torch: Any, dtype: str, extents: tuple[int, int, int], device: str) -> Case:
    """The GEMM of TMA and wgmma, whose result has the type of its inputs."""
    m, n, k = extents
    kind = getattr(torch, DTYPES[dtype])
    a, b = (random(torch, shape, kind, device) for shape in ((m, k), (n, k)))
    out, guards = guarded(torch, m, n, kind, device)

    def run(stream: Any) -> None:
        hopper_gemm(a, b.T, out, stream=stream)

    return Case(run, (a, b), out, lambda: product_of(a, b, 2 * ROUNDING[dtype]), guards)


def preshuffle_case(torch: Any, dtype: str, extents: tuple[int, int, int], device: str) -> Case:
    """The preshuffled product, which is made of AMD's instructions; B is shuffled once and stays."""
    m, n, k = extents
    kind = getattr(torch, DTYPES[dtype])
    a, b = (torch.randn(shape, device=device).to(kind) for shape in ((m, k), (n, k)))
    out, guards = guarded(torch, m, n, torch.float16, device)
    shuffled = torch.empty_like(b)
    # The shuffle works on the host, where NumPy knows no bf16: bits will do.
    shuffled.view(torch.int16).copy_(torch.from_numpy(shuffle_weight(b.view(torch.int16).cpu().numpy())))
    ones, bias = (torch.full((extent,), value, device=device) for extent, value in ((max(m, n), 1.0), (n, 0.0)))
    gemm = compile_preshuffle_gemm(
        N=n, K=k, tile_m=64, tile_n=64, tile_k=64, in_dtype={"f16": "fp16"}.get(dtype, dtype), out_dtype="fp16"
    )

    def run(stream: Any) -> None:
        gemm(out, a, shuffled, ones[:m], ones[:n], bias, m, n, stream)

    return Case(run, (a,), out, lambda: product_of(a, b, 2.0**-10), guards)


# Examples ------------------------------------------------------------------------------------------------------------

EXAMPLES = ("vector_add", "matrix_add", "copy_rows", "copy_transposed", "matmul")


def example_case(torch: Any, name: str, generation: str, device: str) -> Case:
    """The jit functions of the examples; what they compute is exact but for the product."""
    add, copy, mma = (load(stem) for stem in ("01-vectorAdd", "02-tiledCopy", "03-tiledMma"))
    f32 = torch.float32
    if name == "vector_add":
        n = 1 << 12
        a, b = (random(torch, (n,), f32, device) for _ in range(2))
        c = torch.empty_like(a)
        return Case(lambda s: add.vector_add(a, b, c, n, s), (a, b), c, lambda: exactly(torch, a + b))
    if name == "matmul":
        m, n, k = 128, 64, 256
        h, g = (random(torch, (rows, k), torch.float16, device) for rows in (m, n))
        out, guards = guarded(torch, m, n, f32, device)
        run = lambda s: mma.matmul(h, g, out, m, n, k, generation, s)  # noqa: E731
        return Case(run, (h, g), out, lambda: product_of(h, g), guards)
    rows, columns = (129, 1000) if name == "matrix_add" else (256, 128)
    a, b = (random(torch, (rows, columns), f32, device) for _ in range(2))
    if name == "copy_transposed":
        out = torch.empty(columns, rows, dtype=f32, device=device).T
        return Case(lambda s: copy.copy_transposed(a, out, rows, columns, s), (a,), out, lambda: exactly(torch, a))
    out, guards = guarded(torch, rows, columns, f32, device)
    if name == "copy_rows":
        return Case(lambda s: copy.copy_rows(a, out, rows, columns, s), (a,), out, lambda: exactly(torch, a), guards)
    run = lambda s: add.matrix_add(a, b, out, rows, columns, s)  # noqa: E731
    return Case(run, (a, b), out, lambda: exactly(torch, a + b), guards)


def exactly(torch: Any, values: Any) -> tuple[Any, Any]:
    return values.double(), torch.zeros_like(values.double())

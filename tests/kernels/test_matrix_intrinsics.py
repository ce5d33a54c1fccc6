"""`fx.rocdl.mfma_*` and `wmma_*`: every function, in both calling forms, runs and compiles to its instruction."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.rocdl.matrix.mfma_intrinsics import GENERATIONS, INTRINSICS
from flydsl.target.mma_cdna import SCALED_FORMATS, Mfma, MfmaScale
from flydsl.target.mma_rdna import WmmaScale
from flydsl.target.target import parse_target
from tests.codegen.test_mma_tables import MATRIX_MNEMONIC, expected
from tests.kernels.test_matrix_atoms import instructions, operands_for
from tests.support import mma_reference as reference
from tests.support import random_data
from tests.support.mma_code import code_of
from tests.support.mma_waves import launcher, run_wave

ARCHS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")


def spellings(op: Any) -> list[str]:
    """The names of one instruction, from LLVM's name of it."""
    suffix = op.intrinsic().dialect_op.removeprefix("rocdl.").replace(".", "_")
    squeezed = suffix.replace("_", "")
    same = re.sub(r"(fp8|bf8)\1$", r"\1", squeezed)
    return [name for name in INTRINSICS if name.replace("_", "") in (squeezed, same)]


def words_of(values: list[Any]) -> list[Any]:
    """A and B as packed 32-bit words, as many kernels hold them."""
    return [values[0].bitcast(fx.Int32), values[1].bitcast(fx.Int32), *values[2:]]


def issued_by(name: Callable[[Any], str], packed: bool) -> Callable[[Any, list[Any]], Any]:
    """Issue by function, operands one by one, or packed in a list after the result's type."""

    def issue(op: Any, given: list[Any]) -> Any:
        function = getattr(fx.rocdl, name(op))
        a, b, c, *scales = words_of(given) if packed else given
        flags = {"sign_a": op.sign_a, "sign_b": op.sign_b} if op.elem_c == "i32" and hasattr(op, "sign_a") else {}
        type_ = fx.T.vec(c.numel, fx.T.f32)
        if isinstance(op, MfmaScale):
            formats = [SCALED_FORMATS[elem] for elem in op.elem_types[:2]]
            scale_a, scale_b = (s[0] for s in scales)
            if packed:
                return function(type_, [a, b, c, *formats, op.opsel_a, scale_a, op.opsel_b, scale_b])
            return function(a, b, c, cbsz=formats[0], blgp=formats[1], scale_a=scale_a, scale_b=scale_b)
        if isinstance(op, WmmaScale):
            formats = [SCALED_FORMATS[elem] for elem in op.elem_types[:2]]
            fields = {} if op.m == 32 else {"fmtA": formats[0], "fmtB": formats[1]}
            operands = [a, b, c, *(s[0] for s in scales)]
            return function(type_, operands, **fields) if packed else function(*operands, **fields)
        if packed and isinstance(op, Mfma):
            return function(type_, [a, b, c, 0, 0, 0])
        return function(type_, [a, b, c], **flags) if packed else function(a, b, c, **flags)

    return issue


def few_formats(ops: tuple[Any, ...]) -> list[Any]:
    """All functions, but not all mixes of scaled formats: each as A with the next as B."""
    order = list(SCALED_FORMATS)
    mixes = {(a, order[(i + 1) % len(order)]) for i, a in enumerate(order)}
    return [op for op in ops if not op.state or op.elem_types[:2] in mixes or op.m != op.n]


@pytest.mark.parametrize("packed", [False, True], ids=["operands", "list"])
@pytest.mark.parametrize("arch", ARCHS)
def test_every_function_multiplies(
    arch: str, packed: bool, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    monkeypatch.setenv("ARCH", arch)
    ops = few_formats(instructions(arch))
    cases = [operands_for(op, rng, exact=True) for op in ops]
    issue = issued_by(lambda op: spellings(op)[-1 if packed else 0], packed)
    found = run_wave(ops, [registers for registers, _, _ in cases], launcher(ops, issue))
    for op, registers, (_, wanted, _) in zip(ops, found, cases, strict=True):
        got = reference.collect(registers, op.tv_layouts()[2], reference.operand_shapes(op)[2])
        assert np.array_equal(got.astype(wanted.dtype), wanted), str(op)


@pytest.mark.parametrize("arch", ARCHS)
def test_every_name_is_an_instruction_of_the_target(arch: str) -> None:
    generation = parse_target(arch).generation
    named = {name for op in instructions(arch) for name in spellings(op)}
    assert named == {name for name in INTRINSICS if generation in GENERATIONS[name]}


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_functions_compile_to_their_instruction(arch: str, tmp_path: Path) -> None:
    ops = instructions(arch)
    found = re.findall(MATRIX_MNEMONIC, code_of(arch, ops, tmp_path, issued_by(lambda op: spellings(op)[0], True)))
    assert len(found) == len(ops)
    for op in ops:
        assert any(re.match(expected(op), name) for name in found), str(op)


def test_seed_spellings() -> None:
    for name in ("mfma_f32_16x16x16_f16", "mfma_f32_16x16x32_fp8", "mfma_i32_16x16x32i8", "mfma_i32_16x16x32_i8",
                 "mfma_f32_16x16x32_fp8_fp8", "mfma_scale_f32_32x32x64_f8f6f4"):  # fmt: skip
        assert callable(getattr(fx.rocdl, name))


def test_scaled_operands_of_eight_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels often give eight words whatever the format; those beyond the format's own are not read."""
    monkeypatch.setenv("ARCH", "gfx950")
    op = MfmaScale(16, 16, 128, "f4E2M1FN", "f6E2M3FN")

    def issue(op: Any, given: list[Any]) -> Any:
        wide = []
        for vector in given[:2]:
            words = vector.bitcast(fx.Int32)
            wide.append(words.shuffle(words, [i % words.numel for i in range(8)]))
        scales = (given[3][0], given[4][0])
        return fx.rocdl.mfma_scale_f32_16x16x128_f8f6f4(
            fx.T.vec(4, fx.T.f32), [*wide, given[2], 4, 2, 0, scales[0], 0, scales[1]]
        )

    registers, wanted, _ = operands_for(op, random_data.generator(), exact=True)
    [found] = run_wave([op], [registers], launcher([op], issue))
    assert np.array_equal(reference.collect(found, op.tv_layouts()[2], (16, 16)), wanted)


def run_raw(call: Callable[[], Any]) -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor):
        out[0] = call()[0]

    @flyc.jit
    def run(out: fx.Tensor):
        kernel(out).launch(grid=(1, 1, 1), block=(64, 1, 1))

    run(np.zeros(4, np.float32))


def halves(count: int) -> Any:
    return fx.full(count, 1.0, fx.Float16)


def zeros(count: int = 4) -> Any:
    return fx.full(count, 0.0, fx.Float32)


MISTAKES: list[tuple[str, Callable[[], Any], type[Exception], str]] = [
    ("gfx942", lambda: fx.rocdl.mfma_f32_16x16x16f16(halves(4), halves(4)), DslTypeError, "got 2 operands"),
    ("gfx942", lambda: fx.rocdl.mfma_f32_16x16x16f16(halves(8), halves(4), zeros()), DslValueError, "takes a as 4"),
    ("gfx942", lambda: fx.rocdl.mfma_f32_16x16x16f16(halves(4), "b", zeros()), DslTypeError, "takes b as a vector"),
    ("gfx942", lambda: fx.rocdl.mfma_f32_16x16x16f16(halves(4), halves(4), zeros(), cbsz=1), DslValueError, "cbsz = 1"),
    (
        "gfx942",
        lambda: fx.rocdl.mfma_f32_16x16x16f16(None, [halves(4), halves(4), zeros(), 0, 0, 2]),
        DslValueError,
        "blgp = 2",
    ),
    (
        "gfx942",
        lambda: fx.rocdl.mfma_f32_16x16x16f16(halves(4), halves(4), zeros(), blgp=fx.Int32(fx.thread_idx.x)),
        DslTypeError,
        "must be a Python int",
    ),
    ("gfx942", lambda: fx.rocdl.mfma_f32_16x16x32_f16(halves(8), halves(8), zeros()), DslValueError, "942 has: mfma"),
    ("gfx1201", lambda: fx.rocdl.mfma_f32_16x16x16f16(halves(4), halves(4), zeros()), DslValueError, "no mfma_"),
    ("gfx942", lambda: fx.rocdl.wmma_f32_16x16x16_f16(halves(16), halves(16), zeros(8)), DslValueError, "no wmma_"),
    (
        "gfx950",
        lambda: fx.rocdl.mfma_scale_f32_16x16x128_f8f6f4(zeros(8), zeros(8), zeros(), cbsz=5, scale_a=0, scale_b=0),
        DslValueError,
        "cbsz = 5 is no format",
    ),
    (
        "gfx950",
        lambda: fx.rocdl.mfma_scale_f32_16x16x128_f8f6f4(zeros(8), zeros(8), zeros(), scale_a=0x7F7F7F7F),
        DslTypeError,
        "needs scale_b",
    ),
    (
        "gfx1250",
        lambda: fx.rocdl.wmma_scale_f32_16x16x128_f8f6f4(zeros(16), zeros(16), zeros(8), scale_a=0, scale_b=0, opsel=1),
        DslTypeError,
        "has no 'opsel'",
    ),
]


@pytest.mark.parametrize(("arch", "call", "kind", "said"), MISTAKES)
def test_mistakes(
    arch: str, call: Callable[[], Any], kind: type[Exception], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch)
    with pytest.raises(kind, match=said):
        run_raw(call)

"""Every `mma.sync` of a real NVIDIA GPU against float64 products, and against the virtual GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
from tests.kernels.test_matrix_atoms import CHUNK, instructions, operands_for
from tests.support import mma_reference as reference
from tests.support.mma_reference import Array
from tests.support.mma_waves import launcher, read_out, write_words

pytestmark = pytest.mark.gpu


def on_device(ops: tuple[Any, ...], operands: list[list[Array]]) -> list[Array]:
    """Each thread's accumulators after each instruction, on the GPU."""
    words = write_words(ops, operands)
    out = np.full(words.shape, 0x7FC00BAD, np.int32)
    with flyc.current_device().arrays(words, out) as arrays:
        launcher(ops)(*arrays)
    return read_out(ops, out)


def test_every_instruction_multiplies(rng: np.random.Generator) -> None:
    device = flyc.current_device()
    if device.kind != "cuda":
        pytest.skip("mma.sync is NVIDIA's; AMD's instructions run in tests/kernels on the virtual GPU")
    table = instructions(device.target.arch)
    for at in range(0, len(table), CHUNK):
        ops = table[at : at + CHUNK]
        for exact in (True, False):
            cases = [operands_for(op, rng, exact) for op in ops]
            found = on_device(ops, [registers for registers, _, _ in cases])
            for op, registers, (_, wanted, bound) in zip(ops, found, cases, strict=True):
                got = reference.collect(registers, op.tv_layouts()[2], reference.operand_shapes(op)[2])
                error = np.abs(got.astype(wanted.dtype) - wanted)
                # Eight-bit floats with f16 sums are rounded more than once: two units in the last place on Hopper.
                twice = not exact and "f8" in op.elem_a and op.elem_c == "f16"
                slack = np.abs(wanted).max() * 2.0**-10 if twice else 0.0
                assert np.all(error <= bound + slack), f"{op}, {exact=}: off by {error.max()}"

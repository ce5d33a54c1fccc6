"""Constructors of AMD's matrix instructions, for ``make_mma_atom``."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslValueError
from flydsl.expr.atoms.mma_elements import accumulator_of, current_target, existing, pair_of
from flydsl.expr.trace.context import is_tracing
from flydsl.target.mma_cdna import Mfma, MfmaScale, as_encoded, mfma_scale_signatures, mfma_signatures
from flydsl.target.mma_facts import is_signed_int, signature
from flydsl.target.mma_rdna import DIALECT_NAMES, Wmma, WmmaScale, wmma_scale_signatures, wmma_signatures


def MFMA(m: int, n: int, k: int, elem_ab: Any, elem_acc: Any = None) -> Mfma:
    """Return a dense MFMA of gfx90a, gfx942 or gfx950; ``elem_ab`` is one type or a pair.

    The chip decides how 8-bit floats are encoded, FNUZ on gfx942 and OCP on gfx950, whichever of the two is named.
    """
    a, b = pair_of(elem_ab)
    acc = accumulator_of(elem_acc, a)
    there = [as_encoded(elem, current_target()) if is_tracing() else elem for elem in (a, b)]
    return existing(
        "MFMA", signature(m, n, k, there[0], there[1], acc), mfma_signatures, lambda: Mfma(m, n, k, a, b, acc)
    )


def MFMAScale(
    m: int, n: int, k: int, elem_a: Any, elem_b: Any = None, elem_acc: Any = None, *, opsel_a: int = 0, opsel_b: int = 0
) -> MfmaScale:
    """Return a block-scaled MFMA of gfx950. Set ``scale_a`` and ``scale_b`` (i32, four E8M0 bytes) on the atom."""
    a, b = pair_of((elem_a, elem_a if elem_b is None else elem_b))
    acc = accumulator_of(elem_acc, a)
    wanted = signature(m, n, k, a, b, acc)
    return existing(
        "scaled MFMA", wanted, mfma_scale_signatures, lambda: MfmaScale(m, n, k, a, b, acc, opsel_a, opsel_b)
    )


def WMMA(
    m: int, n: int, k: int, elem_ab: Any, elem_acc: Any = None, sign_a: bool | None = None, sign_b: bool | None = None,
    clamp: bool = False,
) -> Wmma:  # fmt: skip
    """Return a dense WMMA of the target being traced. Integers are signed as their types say unless told otherwise."""
    if is_tracing():
        # A target without WMMA at all refuses any generation's alike.
        having = current_target().generation
        return _wmma(having if having in DIALECT_NAMES else "cdna5", m, n, k, elem_ab, elem_acc, sign_a, sign_b, clamp)
    a, b = pair_of(elem_ab)
    wanted = signature(m, n, k, a.removeprefix("u"), b.removeprefix("u"), accumulator_of(elem_acc, a))
    having = [generation for generation in DIALECT_NAMES if wanted in wmma_signatures(generation)]
    if len(having) > 1:
        raise DslValueError(
            f"several targets have a WMMA {wanted}",
            hint="call it inside a kernel, or name one: " + ", ".join(f"{generation}.WMMA" for generation in having),
        )
    generation = having[0] if having else "cdna5"
    return _wmma(generation, m, n, k, elem_ab, elem_acc, sign_a, sign_b, clamp)


def _wmma(
    generation: str, m: int, n: int, k: int, elem_ab: Any, elem_acc: Any, sign_a: bool | None, sign_b: bool | None,
    clamp: bool,
) -> Wmma:  # fmt: skip
    a, b = pair_of(elem_ab)
    sign_a = is_signed_int(a) if sign_a is None else sign_a
    sign_b = is_signed_int(b) if sign_b is None else sign_b
    acc = accumulator_of(elem_acc, a)
    a, b = a.removeprefix("u"), b.removeprefix("u")
    return existing(
        "WMMA",
        signature(m, n, k, a, b, acc),
        lambda target: wmma_signatures(target.generation),
        lambda: Wmma(generation, m, n, k, a, b, acc, sign_a, sign_b, clamp),
    )


def wmma_of(generation: str) -> Any:
    """Return the WMMA constructor of one generation, whatever is being traced."""

    def make(
        m: int, n: int, k: int, elem_ab: Any, elem_acc: Any = None, sign_a: bool | None = None,
        sign_b: bool | None = None, clamp: bool = False,
    ) -> Wmma:  # fmt: skip
        return _wmma(generation, m, n, k, elem_ab, elem_acc, sign_a, sign_b, clamp)

    make.__doc__ = f"A dense WMMA of {DIALECT_NAMES[generation]}."
    make.__name__ = make.__qualname__ = "WMMA"
    return make


def WMMAScale(
    m: int, n: int, k: int, elem_a: Any, elem_b: Any = None, elem_acc: Any = None, *,
    opsel_a: int = 0, opsel_b: int = 0, mod_c: int = 0, reuse_a: bool = False, reuse_b: bool = False,
    block_size: int = 32,
) -> WmmaScale:  # fmt: skip
    """Return a block-scaled WMMA of gfx1250. ``scale_a`` and ``scale_b`` are i32 for blocks of 32, i64 for blocks of
    16."""
    a, b = pair_of((elem_a, elem_a if elem_b is None else elem_b))
    acc = accumulator_of(elem_acc, a)
    return existing(
        "scaled WMMA",
        signature(m, n, k, a, b, acc),
        wmma_scale_signatures,
        lambda: WmmaScale(m, n, k, a, b, acc, opsel_a, opsel_b, mod_c, reuse_a, reuse_b, block_size),
    )

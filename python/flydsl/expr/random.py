"""Random numbers from a counter: Philox4x32 of Salmon, Moraes, Dror and Shaw ("Parallel random numbers: as easy as
1, 2, 3", SC11).

Each call is a function of ``seed`` and ``offset`` alone, so threads draw independent numbers by using different
offsets. Arguments may be Python ints, numbers or integer vectors; the results have the shape of ``offset``.
"""

from __future__ import annotations

import math as python_math
from typing import Any

from flydsl.expr import math
from flydsl.expr.arith import max as greater
from flydsl.expr.numeric import Float32, Uint32, Uint64, as_numeric
from flydsl.expr.vector import Vector

# The multipliers and the Weyl increments of the key, table 2 and section 3.3 of the paper.
_ROUND_A, _ROUND_B = 0xD2511F53, 0xCD9E8D57
_KEY_A, _KEY_B = 0x9E3779B9, 0xBB67AE85

_DEFAULT_ROUNDS = 10
_MANTISSA_BITS = 24


def _word(value: Any) -> Any:
    """A value as 32 unsigned bits."""
    return value.to(Uint32) if isinstance(value, Vector) else Uint32(as_numeric(value))


def _product(constant: int, word: Any) -> tuple[Any, Any]:
    """High and low word of a 32 by 32 bit product."""
    wide = word.to(Uint64) * Uint64(constant)
    return (wide >> Uint64(32)).to(Uint32), wide.to(Uint32)


def philox_impl(
    c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any, n_rounds: int = _DEFAULT_ROUNDS
) -> tuple[Any, ...]:
    """Four random words from a counter of four words and a key of two."""
    c0, c1, c2, c3, k0, k1 = (_word(word) for word in (c0, c1, c2, c3, k0, k1))
    for _ in range(n_rounds):
        high_a, low_a = _product(_ROUND_A, c0)
        high_b, low_b = _product(_ROUND_B, c2)
        c0, c1, c2, c3 = high_b ^ c1 ^ k0, low_b, high_a ^ c3 ^ k1, low_a
        k0, k1 = k0 + Uint32(_KEY_A), k1 + Uint32(_KEY_B)
    return c0, c1, c2, c3


def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: int = _DEFAULT_ROUNDS) -> tuple[Any, ...]:
    """Four random words from a 64-bit seed and a counter of four words."""
    wide = Uint64(seed if isinstance(seed, int) else as_numeric(seed))
    return philox_impl(c0, c1, c2, c3, wide.to(Uint32), (wide >> Uint64(32)).to(Uint32), n_rounds)


def randint4x(seed: Any, offset: Any, n_rounds: int = _DEFAULT_ROUNDS) -> tuple[Any, ...]:
    """Four independent Uint32 per offset."""
    offset = offset if isinstance(offset, Vector) else as_numeric(offset)
    low = _word(offset)
    # A 64-bit offset fills two words of the counter, so that offsets beyond 2**32 do not repeat.
    high = (offset.to(Uint64) >> Uint64(32)).to(Uint32) if offset.dtype.width > 32 else low ^ low
    zero = low ^ low
    return philox(seed, low, high, zero, zero, n_rounds)


def randint(seed: Any, offset: Any, n_rounds: int = _DEFAULT_ROUNDS) -> Any:
    """One Uint32 per offset."""
    return randint4x(seed, offset, n_rounds)[0]


def uint_to_uniform_float(x: Any) -> Any:
    """A random word as a Float32 in [0, 1): its upper 24 bits, which the type holds exactly."""
    word = _word(x)
    return (word >> Uint32(32 - _MANTISSA_BITS)).to(Float32) * Float32(2.0**-_MANTISSA_BITS)


def rand(seed: Any, offset: Any, n_rounds: int = _DEFAULT_ROUNDS) -> Any:
    """One Float32, uniform in [0, 1), per offset."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


def rand4x(seed: Any, offset: Any, n_rounds: int = _DEFAULT_ROUNDS) -> tuple[Any, ...]:
    """Four independent Float32, uniform in [0, 1), per offset."""
    return tuple(uint_to_uniform_float(word) for word in randint4x(seed, offset, n_rounds))


def pair_uniform_to_normal(u1: Any, u2: Any) -> tuple[Any, Any]:
    """Two independent standard normal numbers from two uniform ones (Box and Muller)."""
    positive = greater(u1, Float32(2.0**-_MANTISSA_BITS))  # the logarithm of 0 is no number
    radius = math.sqrt(math.log(positive) * Float32(-2.0))
    angle = u2 * Float32(2.0 * python_math.pi)
    return radius * math.cos(angle), radius * math.sin(angle)


def randn(seed: Any, offset: Any, n_rounds: int = _DEFAULT_ROUNDS) -> Any:
    """One standard normal Float32 per offset."""
    u1, u2, _, _ = rand4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(u1, u2)[0]


def randn4x(seed: Any, offset: Any, n_rounds: int = _DEFAULT_ROUNDS) -> tuple[Any, ...]:
    """Four independent standard normal Float32 per offset."""
    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)
    return (*pair_uniform_to_normal(u1, u2), *pair_uniform_to_normal(u3, u4))


__all__ = [
    "pair_uniform_to_normal", "philox", "philox_impl", "rand", "rand4x", "randint", "randint4x", "randn", "randn4x",
    "uint_to_uniform_float",
]  # fmt: skip

"""Random numbers from a counter: Philox4x32 of Salmon, Moraes, Dror and Shaw ("Parallel random numbers: as easy as
1, 2, 3", SC11).

Each call is a function of ``seed`` and ``offset`` alone, so threads draw independent numbers by using different
offsets. Arguments may be Python ints, numbers or integer vectors; the results have the shape of ``offset``.
"""

from __future__ import annotations

import math as python_math
from typing import Any

from flydsl.base.errors import FlyDSLError
from flydsl.expr import math
from flydsl.expr.arith import max as greater
from flydsl.expr.numeric import Float32, Int32, Int64, Uint32, Uint64, as_numeric
from flydsl.expr.vector import Vector

# The multipliers and the Weyl increments of the key, table 2 and section 3.3 of the paper.
_ROUND_A, _ROUND_B = 0xD2511F53, 0xCD9E8D57
_KEY_A, _KEY_B = 0x9E3779B9, 0xBB67AE85

_WIDE_ROUND_A, _WIDE_ROUND_B = 0xD2E7470EE14C6C93, 0xCA5A826395121157
_WIDE_KEY_A, _WIDE_KEY_B = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
_CONSTANTS: dict[Any, tuple[int, int, int, int]] = {
    Uint32: (_ROUND_A, _ROUND_B, _KEY_A, _KEY_B),
    Uint64: (_WIDE_ROUND_A, _WIDE_ROUND_B, _WIDE_KEY_A, _WIDE_KEY_B),
}

_DEFAULT_ROUNDS = 10
_SCALES = {32: (Int32, 4.6566127342e-10), 64: (Int64, 1.0842020432385337e-19)}
"""Width of a word to its signed type, and what brings the larger half of that to just below 1."""
_SMALLEST = 1e-7
"""Stands for zero where a logarithm is taken."""


class NoSuchWordsError(FlyDSLError, NotImplementedError):
    """Words of a width that the generator is not defined for."""


def _word(value: Any, kind: Any = Uint32) -> Any:
    """Return a value as unsigned bits."""
    return value.to(kind) if isinstance(value, Vector) else kind(as_numeric(value))


def _number(value: Any) -> Any:
    """Return a number or vector as it is; a Python int that 32 bits hold is a word of 32."""
    if isinstance(value, int) and 0 <= value < 1 << 32:
        return Uint32(value)
    return value if isinstance(value, Vector) else as_numeric(value)


def _words(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values as words of the width that the widest of them has."""
    numbers = [_number(value) for value in values]
    width = max(number.dtype.width for number in numbers)
    if width not in (32, 64) or any(number.dtype.is_float for number in numbers):
        raise NoSuchWordsError(f"Philox is defined for words of 32 and 64 bits, got {numbers}")
    return tuple(_word(number, Uint32 if width == 32 else Uint64) for number in numbers)


def _product(constant: int, word: Any) -> tuple[Any, Any]:
    """High and low word of a product of two words."""
    if word.dtype is Uint64:
        return _high_of_wide(constant, word), word * Uint64(constant)
    wide = word.to(Uint64) * Uint64(constant)
    return (wide >> Uint64(32)).to(Uint32), wide.to(Uint32)


def _high_of_wide(constant: int, word: Any) -> Any:
    """Return the upper 64 bits of a 64 by 64 bit product, from products of halves."""
    half, mask = Uint64(32), Uint64(0xFFFFFFFF)
    high, low = word >> half, word & mask
    c_high, c_low = Uint64(constant >> 32), Uint64(constant & 0xFFFFFFFF)
    middle = high * c_low + (low * c_low >> half)
    other = low * c_high + (middle & mask)
    return high * c_high + (middle >> half) + (other >> half)


def philox_impl(
    c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any, n_rounds: int = _DEFAULT_ROUNDS
) -> tuple[Any, ...]:
    """Return four random words from a counter of four words and a key of two."""
    c0, c1, c2, c3, k0, k1 = _words((c0, c1, c2, c3, k0, k1))
    round_a, round_b, key_a, key_b = _CONSTANTS[c0.dtype]
    for _ in range(n_rounds):
        high_a, low_a = _product(round_a, c0)
        high_b, low_b = _product(round_b, c2)
        c0, c1, c2, c3 = high_b ^ c1 ^ k0, low_b, high_a ^ c3 ^ k1, low_a
        k0, k1 = k0 + c0.dtype(key_a), k1 + c0.dtype(key_b)
    return c0, c1, c2, c3


def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: int = _DEFAULT_ROUNDS) -> tuple[Any, ...]:
    """Return four random words from a 64-bit seed and a counter of four words; 64-bit words take the seed as it is."""
    wide = Uint64(seed if isinstance(seed, int) else as_numeric(seed))
    counter = _words((c0, c1, c2, c3))
    if counter[0].dtype is Uint64:
        w0, w1, w2, w3 = counter
        return philox_impl(w0, w1, w2, w3, wide, Uint64(0), n_rounds)
    return philox_impl(c0, c1, c2, c3, wide.to(Uint32), (wide >> Uint64(32)).to(Uint32), n_rounds)


def randint4x(seed: Any, offset: Any, n_rounds: int = _DEFAULT_ROUNDS) -> tuple[Any, ...]:
    """Return four independent Uint32 per offset."""
    offset = offset if isinstance(offset, Vector) else as_numeric(offset)
    low = _word(offset)
    # A 64-bit offset fills two words of the counter, so that offsets beyond 2**32 do not repeat.
    high = (offset.to(Uint64) >> Uint64(32)).to(Uint32) if offset.dtype.width > 32 else low ^ low
    zero = low ^ low
    return philox(seed, low, high, zero, zero, n_rounds)


def randint(seed: Any, offset: Any, n_rounds: int = _DEFAULT_ROUNDS) -> Any:
    """Return one Uint32 per offset."""
    return randint4x(seed, offset, n_rounds)[0]


def uint_to_uniform_float(x: Any) -> Any:
    """Return a random word as a Float32 in [0, 1): as a signed number, its size, a negative one counted from -1 on."""
    word = x if isinstance(x, Vector) else as_numeric(x)
    signed, scale = _SCALES[64 if word.dtype.width == 64 else 32]
    number = word.to(signed)
    folded = (number < 0).select(-number - signed(1), number)
    return folded.to(Float32) * Float32(scale)


def rand(seed: Any, offset: Any, n_rounds: int = _DEFAULT_ROUNDS) -> Any:
    """Return one Float32, uniform in [0, 1), per offset."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


def rand4x(seed: Any, offset: Any, n_rounds: int = _DEFAULT_ROUNDS) -> tuple[Any, ...]:
    """Return four independent Float32, uniform in [0, 1), per offset."""
    return tuple(uint_to_uniform_float(word) for word in randint4x(seed, offset, n_rounds))


def pair_uniform_to_normal(u1: Any, u2: Any) -> tuple[Any, Any]:
    """Return two independent standard normal numbers from two uniform ones (Box and Muller)."""
    positive = greater(u1, Float32(_SMALLEST))
    radius = math.sqrt(math.log(positive) * Float32(-2.0))
    angle = u2 * Float32(2.0 * python_math.pi)
    return radius * math.cos(angle), radius * math.sin(angle)


def randn(seed: Any, offset: Any, n_rounds: int = _DEFAULT_ROUNDS) -> Any:
    """Return one standard normal Float32 per offset."""
    u1, u2, _, _ = rand4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(u1, u2)[0]


def randn4x(seed: Any, offset: Any, n_rounds: int = _DEFAULT_ROUNDS) -> tuple[Any, ...]:
    """Return four independent standard normal Float32 per offset."""
    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)
    return (*pair_uniform_to_normal(u1, u2), *pair_uniform_to_normal(u3, u4))


__all__ = [
    "pair_uniform_to_normal", "philox", "philox_impl", "rand", "rand4x", "randint", "randint4x", "randn", "randn4x",
    "uint_to_uniform_float",
]  # fmt: skip

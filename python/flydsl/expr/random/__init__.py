"""Random numbers from a counter, and rounding by them; `flydsl.expr.random.universal` has the generator itself too."""

from __future__ import annotations

from flydsl.expr.random import universal as universal
from flydsl.expr.random.rounding import stochastic_round as stochastic_round
from flydsl.expr.random.universal import pair_uniform_to_normal as pair_uniform_to_normal
from flydsl.expr.random.universal import philox as philox
from flydsl.expr.random.universal import philox_impl as philox_impl
from flydsl.expr.random.universal import rand, rand4x, randint, randint4x, randn, randn4x
from flydsl.expr.random.universal import uint_to_uniform_float as uint_to_uniform_float

__all__ = ["rand", "rand4x", "randint", "randint4x", "randn", "randn4x"]

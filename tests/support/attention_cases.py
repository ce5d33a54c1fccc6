"""Calls of attention in which every two choices of its features meet, and what is right for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from tests.support.attention_reference import attend, check, check_gradients, gradients

FEATURES: dict[str, tuple[Any, ...]] = {
    "head": ((64, 64), (96, 96), (128, 128), (192, 128), (256, 256)),
    "band": ("all", "causal", "window", "causal window"),
    "heads": ((2, 2), (4, 2), (3, 1)),
    "added": ("nothing", "slopes", "mask"),
    "dtype": (np.float16, ml_dtypes.bfloat16),
    "sinks": (False, True),
    "softcap": (0.0, 5.0),
    "sequences": ("one length", "starts"),
    "scale": (None, 0.3),
}
"""Name -> its choices; heads are those of queries and of keys, a head its elements in keys and in values."""
REFUSED = frozenset({("added", "mask"), ("sequences", "starts")})
"""What cannot be asked for together."""
BANDS = {"all": (None, None), "causal": (None, None), "window": (40, 20), "causal window": (50, None)}

Choice = tuple[str, Any]


def crossed() -> list[dict[str, Any]]:
    """Return few cases, always the same ones, in which every two choices of different features meet."""
    open_pairs = {
        frozenset(pair)
        for (a, of_a), (b, of_b) in combinations(FEATURES.items(), 2)
        for pair in product(((a, x) for x in of_a), ((b, x) for x in of_b))
    } - {REFUSED}
    cases = []
    while open_pairs:
        case: dict[str, Any] = dict(min(open_pairs, key=lambda pair: sorted(map(str, pair))))
        for name in FEATURES:
            if name not in case:
                case[name] = max(FEATURES[name], key=lambda x, name=name: _new_pairs((name, x), case, open_pairs))
        open_pairs -= {frozenset(pair) for pair in combinations(case.items(), 2)}
        cases.append({name: case[name] for name in FEATURES})
    return cases


def _new_pairs(choice: Choice, case: dict[str, Any], open_pairs: set[frozenset[Choice]]) -> int:
    """Return how many open pairs a choice would make with those of a case; -1 if it is refused beside one."""
    pairs = [frozenset((choice, other)) for other in case.items()]
    return -1 if REFUSED in pairs else sum(pair in open_pairs for pair in pairs)


class Sequence(NamedTuple):
    """Where a sequence is in arrays of all: what picks its results, and its own queries, keys and values."""

    results: Any
    logarithms: Any
    dout: Any
    q: Any
    k: Any
    v: Any


@dataclass(frozen=True)
class Call:
    """Arrays of NumPy for a case, and its keyword arguments."""

    arrays: tuple[Any, Any, Any]
    dout: Any
    arguments: dict[str, Any]
    starts: tuple[list[int], list[int]] | None

    def sequences(self) -> Iterator[Sequence]:
        """Yield each sequence as (1, heads, tokens, d); all of one length are one."""
        q, k, v = self.arrays
        if self.starts is None:
            yield Sequence(..., ..., self.dout, q, k, v)
            return
        for (a, b), (c, d) in zip(pairwise(self.starts[0]), pairwise(self.starts[1]), strict=True):
            own = [x[None, s:e].swapaxes(1, 2) for x, s, e in ((self.dout, a, b), (q, a, b), (k, c, d), (v, c, d))]
            yield Sequence(slice(a, b), (slice(None), slice(a, b)), *own)

    def check(self, out: Any, lse: Any, what: object) -> None:
        """Compare results and logarithms with float64."""
        for part in self.sequences():
            found, logarithms = out[part.results], lse[part.logarithms]
            if self.starts is not None:
                found, logarithms = found.swapaxes(0, 1)[None], logarithms[None]
            if part.q.shape[2]:
                check(found, logarithms, attend(part.q, part.k, part.v, **self.arguments), what)

    def check_gradients(self, found: tuple[Any, Any, Any], what: object) -> None:
        """Compare gradients of queries, keys and values with float64."""
        for number, part in enumerate(self.sequences()):
            own = found
            if self.starts is not None:
                ends = [(starts[number], starts[number + 1]) for starts in (self.starts[0], *[self.starts[1]] * 2)]
                own = tuple(x[None, a:b].swapaxes(1, 2) for x, (a, b) in zip(found, ends, strict=True))
            if part.q.shape[2] and part.k.shape[2]:
                check_gradients(own, gradients(part.dout, part.q, part.k, part.v, **self.arguments), what)


def call_of(case: dict[str, Any], rng: np.random.Generator, queries: int, keys: int) -> Call:
    """Return a call of a case, with sequences of so many tokens at most."""
    (h, kv), (d, dv), dtype = case["heads"], case["head"], case["dtype"]
    arguments: dict[str, Any] = {
        "is_causal": "causal" in case["band"], "window": BANDS[case["band"]], "softcap": case["softcap"],
        "scale": case["scale"],
    }  # fmt: skip
    if case["added"] == "slopes":
        arguments["alibi_slopes"] = rng.uniform(0, 0.3, h).astype(np.float32)
    if case["added"] == "mask":
        arguments["attn_mask"] = rng.standard_normal((2, h, queries, keys)).astype(np.float32)
    if case["sinks"]:
        arguments["sinks"] = rng.standard_normal(h).astype(np.float32)
    starts = None
    if case["sequences"] == "starts":
        starts = [0, queries, queries, queries + queries // 3], [0, keys, keys + 7, keys + 7 + keys // 2]

    def drawn(number: int, heads: int, tokens: int, width: int) -> Any:
        shape = (2, heads, tokens, width) if starts is None else (starts[number][-1], heads, width)
        return rng.standard_normal(shape).astype(dtype)

    arrays = drawn(0, h, queries, d), drawn(1, kv, keys, d), drawn(1, kv, keys, dv)
    return Call(arrays, drawn(0, h, queries, dv), arguments, starts)


def run_case(
    case: dict[str, Any], call: Call, forward: Callable[..., Any], backward: Callable[..., Any] | None = None,
    there: Callable[[Any], Any] = lambda x: x, back: Callable[[Any], Any] = lambda x: x,
) -> None:  # fmt: skip
    """Run a call, and its gradients if there is a function for these, and check both; results are poisoned before.

    ``there`` and ``back`` bring arrays to the device and from it.
    """
    known = {name: there(x) if isinstance(x, np.ndarray) else x for name, x in call.arguments.items()}
    if call.starts is not None:
        names = ("cu_seqlens_q", "cu_seqlens_k")
        known |= {name: there(np.array(x, np.int32)) for name, x in zip(names, call.starts, strict=True)}
        known["max_seqlen_q"] = max(b - a for a, b in pairwise(call.starts[0]))
    q, k, v = map(there, call.arrays)
    out = there(np.full(call.dout.shape, np.nan, call.dout.dtype))
    _, lse = forward(q, k, v, out=out, return_lse=True, **known)
    call.check(back(out), back(lse), case)
    if backward is not None:
        known.pop("sinks", None)  # they are in the logarithms
        if call.starts is not None:
            known["max_seqlen_k"] = max(b - a for a, b in pairwise(call.starts[1]))
        grads = tuple(there(np.full(x.shape, np.nan, x.dtype)) for x in call.arrays)
        backward(there(call.dout), q, k, v, out, lse, grads=grads, **known)
        call.check_gradients(tuple(map(back, grads)), case)

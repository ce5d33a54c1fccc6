"""Calls of attention in which every two choices of its features meet, and what is right for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from tests.support.attention_reference import attend, check, check_gradients, gradients
from tests.support.pairwise import Case, together

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
    "more": ("keys", "queries"),
    "logarithms": ("returned", "given", "nobody's"),
    "deterministic": (False, True),
    "parts": (None, 3),
}
"""Name -> its choices; heads are those of queries and of keys, a head its elements in keys and in values. Of more
queries than keys, those of a band that come first see no key. Gradients know by themselves the logarithms that nobody
asked for, and how many blocks share a tile of keys, its parts, unless these are given."""
REFUSED = {together(added="mask", sequences="starts"): "attn_mask is for sequences of one length"}
"""What cannot be asked for together, and what the error says."""
BANDS = {"all": (None, None), "causal": (None, None), "window": (40, 20), "causal window": (50, None)}


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
        """Compare results, and logarithms if there are some, with float64."""
        for part in self.sequences():
            found, logarithms = out[part.results], None if lse is None else lse[part.logarithms]
            if self.starts is not None:
                found = found.swapaxes(0, 1)[None]
                logarithms = None if logarithms is None else logarithms[None]
            if part.q.shape[2]:
                check(found, logarithms, attend(part.q, part.k, part.v, **self.arguments), what)

    def logarithms(self) -> Any:
        """Return what is right for them."""
        found = [attend(part.q, part.k, part.v, **self.arguments).lse for part in self.sequences()]
        return (found[0] if self.starts is None else np.concatenate(found, -1)[0]).astype(np.float32)

    def check_gradients(self, found: tuple[Any, Any, Any], what: object) -> None:
        """Compare gradients of queries, keys and values with float64; without a query those of keys are zeros."""
        for number, part in enumerate(self.sequences()):
            own = found
            if self.starts is not None:
                ends = [(starts[number], starts[number + 1]) for starts in (self.starts[0], *[self.starts[1]] * 2)]
                own = tuple(x[None, a:b].swapaxes(1, 2) for x, (a, b) in zip(found, ends, strict=True))
            check_gradients(own, gradients(part.dout, part.q, part.k, part.v, **self.arguments), what)


def call_of(case: Case, rng: np.random.Generator, longest: int, shortest: int = 1) -> Call:
    """Return a call of a case, of so many tokens; of several sequences one has no query, and one no key."""
    few, many = sorted(int(n) for n in rng.integers(shortest, longest, 2))
    queries, keys = (few, many) if case["more"] == "keys" else (many + BANDS["window"][1], few)
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
        ends = (queries, 0, queries // 3, 5), (keys, 7, keys // 2, 0)
        starts = [0, *np.cumsum(ends[0]).tolist()], [0, *np.cumsum(ends[1]).tolist()]

    def drawn(number: int, heads: int, tokens: int, width: int) -> Any:
        shape = (2, heads, tokens, width) if starts is None else (starts[number][-1], heads, width)
        return rng.standard_normal(shape).astype(dtype)

    arrays = drawn(0, h, queries, d), drawn(1, kv, keys, d), drawn(1, kv, keys, dv)
    return Call(arrays, drawn(0, h, queries, dv), arguments, starts)


def run_case(
    case: Case, call: Call, forward: Callable[..., Any], backward: Callable[..., Any] | None = None,
    there: Callable[[Any], Any] = lambda x: x, back: Callable[[Any], Any] = lambda x: x, times: int = 1,
) -> None:  # fmt: skip
    """Run a call, and its gradients if there is a function for these, and check both; results are poisoned before.

    ``there`` and ``back`` bring arrays to the device and from it. Deterministic gradients are the same each of so many
    ``times``.
    """
    known = {name: there(x) if isinstance(x, np.ndarray) else x for name, x in call.arguments.items()}
    if call.starts is not None:
        names = ("cu_seqlens_q", "cu_seqlens_k")
        known |= {name: there(np.array(x, np.int32)) for name, x in zip(names, call.starts, strict=True)}
        known["max_seqlen_q"] = max(b - a for a, b in pairwise(call.starts[0]))
    q, k, v = map(there, call.arrays)
    out = poisoned(there, call.dout)
    if case["logarithms"] == "returned":
        _, lse = forward(q, k, v, out=out, return_lse=True, **known)
    else:
        lse = poisoned(there, call.logarithms()) if case["logarithms"] == "given" else None
        forward(q, k, v, out=out, lse=lse, **known)
    call.check(back(out), None if lse is None else back(lse), case)
    if backward is not None:
        known.pop("sinks", None)  # they are in the logarithms
        known |= {name: case[name] for name in ("deterministic", "parts")}
        if call.starts is not None:
            known["max_seqlen_k"] = max(b - a for a, b in pairwise(call.starts[1]))
        given = there(call.dout), q, k, v, out, there(call.logarithms()) if lse is None else lse
        found = []
        for _ in range(times if case["deterministic"] else 1):
            grads = tuple(poisoned(there, x) for x in call.arrays)
            backward(*given, grads=grads, **known)
            found.append(tuple(map(back, grads)))
        call.check_gradients(found[0], case)
        assert all((a == b).all() for again in found[1:] for a, b in zip(again, found[0], strict=True)), case


def poisoned(there: Callable[[Any], Any], like: Any) -> Any:
    """Return an array of the device in which nothing is a number."""
    return there(np.full(like.shape, np.nan, like.dtype))

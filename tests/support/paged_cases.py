"""Calls of attention over paged caches in which every two choices of its features meet, and what is right for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np

from tests.support.attention_cases import poisoned
from tests.support.attention_reference import attend, check
from tests.support.pairwise import Case, Together, together

AMD = ("gfx942", "gfx950", "gfx1201")
TARGETS = (*AMD, "sm_90a")
PLAIN, OTHERS = ("float8_e4m3fn", "float8_e5m2"), ("float8_e4m3fnuz", "float8_e5m2fnuz")
"""Types of 8 bits that every target takes, and that AMD alone has."""
FEATURES: dict[str, tuple[Any, ...]] = {
    "head": ((64, 64), (96, 96), (128, 128), (192, 128), (256, 256)),
    "page": (1, 5, 16, 64),
    "heads": ((4, 2), (6, 1), (2, 2), (20, 1)),
    "tokens": ("one", 1, 3),
    "dtype": (np.float16, ml_dtypes.bfloat16),
    "cache": ("16 bits", *PLAIN, *OTHERS),
    "scales": ((1.0, 1.0), (0.5, 2.0)),
    "window": (None, 0, 30),
    "softcap": (0.0, 5.0),
    "sinks": (False, True),
    "scale": (None, 0.3),
    "lengths": ("short", "long"),
    "lies": ("apart", "together"),
    "room": ("its own", "counters", "workspace", "an op's"),
    "target": TARGETS,
}
"""Name -> its choices. New tokens are a mode of the query's, or it is "one" without; keys and values of a page lie
"together" in one array; some lengths are zero, and "long" ones are cut into parts."""


def _odd_pages() -> dict[Together, str]:
    """Return pages that TMA cannot write side by side on Hopper: its rows of a token have not 128 bytes."""
    found = {}
    for head, cache, page in product(FEATURES["head"], FEATURES["cache"], FEATURES["page"]):
        size = 2 if cache == "16 bits" else 1
        row = min(next(row for row in (128, 64, 32) if d * size % row == 0) for d in head)
        if page % (128 // row) and cache not in OTHERS:
            says = f"pages of {page} tokens do not do for heads of .* elements of {8 * size} bits on Hopper"
            found[together(head=head, cache=cache, page=page, target="sm_90a")] = says
    return found


REFUSED = {together(cache=cache, target="sm_90a"): "give all the same type" for cache in OTHERS} | _odd_pages()
"""What cannot be asked for together, and what the error says."""
LATENT: dict[str, tuple[Any, ...]] = {
    "head": ((576, 512), (320, 128), (448, 256)),
    "page": (1, 5, 16, 64),
    "heads": ((16, 1), (5, 1)),
    "tokens": ("one", 1, 3),
    "dtype": (np.float16, ml_dtypes.bfloat16),
    "cache": ("16 bits", *PLAIN, *OTHERS),
    "scales": ((1.0, 1.0), (0.5, 0.5)),
    "window": (None, 30),
    "softcap": (0.0, 5.0),
    "sinks": (False, True),
    "scale": (None, 0.07),
    "lengths": ("short", "long"),
    "lies": ("shared",),
    "room": ("its own", "counters", "workspace", "an op's", "mla_decode", "ops.mla_decode"),
    "target": TARGETS,
}
"""The same of latent caches, whose values are "shared": the first elements of keys."""
LATENT_REFUSED = {
    together(room=room, **{name: choice}): f"unexpected keyword argument '{name}'"
    for room in ("mla_decode", "ops.mla_decode")
    for name, choice in (("window", 30), ("softcap", 5.0), ("sinks", True))
} | {together(sinks=True, target="sm_90a"): "latent caches are for attention without sinks"} | {
    together(cache=cache, target="sm_90a"): "give all the same type" for cache in (*PLAIN, *OTHERS)
}  # fmt: skip
BLOCKS: dict[str, tuple[Any, ...]] = {
    "head": ((64, 64), (96, 96), (128, 128), (256, 256)),
    "page": (16, 48, 64),
    "heads": ((4, 2), (6, 1), (2, 2)),
    "tokens": (1, 3),
    "dtype": (np.float16, ml_dtypes.bfloat16),
    "cache": ("16 bits", *PLAIN, *OTHERS),
    "k_scale": ("none", "number", "one", "token"),
    "v_scale": ("none", "number", "one", "token"),
    "values": ("in rows", "turned"),
    "by": ("tile", "list", "table"),
    "window": (None, 30),
    "scale": (None, 0.3),
    "lengths": ("short", "long"),
    "target": AMD,
}
"""The same of caches in blocks of 16, by FlyDSL's names: by `pa_decode_tile`, or `pa_decode_ps_launch` with a list of
pages or a table. Scales are numbers, tensors of one, or one for each token."""
BLOCKS_REFUSED = {together(by="tile", window=30): "sliding_window is not supported by pa_decode_tile"}


@dataclass(frozen=True)
class Pages:
    """Sequences as they are, keys and values (tokens, kv heads, d), and in pages."""

    caches: tuple[Any, Any]
    tables: Any
    contents: list[tuple[Any, Any]]


def in_pages(
    lengths: list[int], page: int, kv: int, head: tuple[int, int], dtype: Any, rng: np.random.Generator, lies: str
) -> Pages:
    """Return sequences in pages. Tokens that no sequence has are NaN, and places in tables that nobody has are -1."""
    counts = [-(-length // page) for length in lengths]
    numbers = rng.permutation(sum(counts) + 2)
    tables = np.full((len(lengths), max(counts) + 1), -1, np.int32)
    caches: Any = tuple(np.full((len(numbers), page, kv, d), np.nan, dtype) for d in head)
    if lies == "together":
        both = np.full((len(numbers), page, kv, sum(head)), np.nan, dtype)
        caches = both[..., : head[0]], both[..., head[0] :]
    if lies == "shared":
        caches = caches[0], caches[0][..., : head[1]]
    contents = []
    for row, (length, count) in enumerate(zip(lengths, counts, strict=True)):
        tables[row, :count], numbers = numbers[:count], numbers[count:]
        keys, values = (rng.standard_normal((length, kv, d)).astype(dtype) for d in head)
        contents.append((keys, keys[..., : head[1]] if lies == "shared" else values))
        for cache, tokens in zip(caches, contents[-1], strict=True):
            places = np.arange(length)
            cache[tables[row, places // page], places % page] = tokens
    return Pages(caches, tables, contents)


@dataclass(frozen=True)
class PagedCall:
    """Arrays of NumPy for a case, its keyword arguments, and what scores are made of."""

    q: Any
    pages: Pages
    lengths: list[int]
    arguments: dict[str, Any]

    def check(self, out: Any, what: object) -> None:
        """Compare results with float64."""
        known = {name: x for name, x in self.arguments.items() if name in ("softcap", "sinks", "scale")}
        factors = self.arguments["k_scale"], self.arguments["v_scale"]
        tokens = 1 if self.q.ndim == 3 else self.q.shape[1]
        for row, content in enumerate(self.pages.contents):
            wide = [
                (x.astype(np.float64) * factor).swapaxes(0, 1)[None] for x, factor in zip(content, factors, strict=True)
            ]
            q, found = (x[row].reshape(tokens, *x.shape[-2:]).swapaxes(0, 1)[None] for x in (self.q, out))
            expected = attend(q, *wide, is_causal=True, window=(self.arguments["window"], None), **known)
            check(found, None, expected, (what, self.lengths[row]))


def paged_call(case: Case, rng: np.random.Generator, short: int, long: int) -> PagedCall:
    """Return a call of a case, with sequences of up to so many tokens: none, one, and others."""
    (heads, kv), dtype, many = case["heads"], case["dtype"], case["tokens"]
    most = {"short": short, "long": long}[case["lengths"]]
    lengths = [most, 0, 1, *(int(n) for n in rng.integers(2, most, 2))]
    stored = dtype if case["cache"] == "16 bits" else getattr(ml_dtypes, case["cache"])
    pages = in_pages(lengths, case["page"], kv, case["head"], stored, rng, case["lies"])
    tokens = () if many == "one" else (many,)
    q = rng.standard_normal((len(lengths), *tokens, heads, case["head"][0])).astype(dtype)
    arguments = {name: case[name] for name in ("window", "softcap", "scale")}
    arguments |= dict(zip(("k_scale", "v_scale"), case["scales"], strict=True))
    if case["sinks"]:
        arguments["sinks"] = rng.standard_normal(heads).astype(np.float32)
    return PagedCall(q, pages, lengths, arguments)


def run_paged_case(
    case: Case, call: PagedCall, functions: Mapping[str, Callable[..., Any]],
    there: Callable[[Any], Any] = lambda x: x, back: Callable[[Any], Any] = lambda x: x,
) -> None:  # fmt: skip
    """Run a call and check it, by the function of that name, or by that for its room: results are poisoned before, but
    for those of ops, and so are those of parts; counters end as zeros."""
    known = {name: there(x) if isinstance(x, np.ndarray) else x for name, x in call.arguments.items()}
    room, caches = case["room"], laid(call.pages.caches, case["lies"], there)
    given = there(call.q), *caches, there(call.pages.tables), there(np.array(call.lengths, np.int32))
    out = poisoned(there, np.empty((*call.q.shape[:-1], case["head"][1]), call.q.dtype))
    if room.endswith("mla_decode"):
        given = given[0], caches[0][:, :, 0], *given[3:]
        known["dv"], known["kv_scale"], _ = case["head"][1], known.pop("k_scale"), known.pop("v_scale")
        known = {name: x for name, x in known.items() if name not in ("window", "softcap") or x}
    parts = counters = None
    if room in ("an op's", "ops.mla_decode"):
        out = functions[room](*given, **known)
    else:
        if room == "workspace":
            known["workspace"] = functions[room](*given[:4])
            parts, _, counters = known["workspace"]
            parts[...], counters[...] = np.nan, 0
        elif room == "counters":
            counters = known["counters"] = there(np.zeros(call.q[..., 0].size, np.int32))
        functions["mla_decode" if room == "mla_decode" else "its own"](*given, out=out, **known)
    call.check(back(out), case)
    assert counters is None or not back(counters).any(), case
    if parts is not None and parts.shape[1] > 1 and case["window"] is None:  # which may leave one part to see
        assert np.isfinite(back(parts)).any(), case


def run_blocks_case(
    case: Case, rng: np.random.Generator, short: int, long: int, functions: Mapping[str, Callable[..., Any]]
) -> None:
    """Run a case of caches in blocks and check it; results are poisoned before, and so are scales of no token."""
    rest = {"softcap": 0.0, "sinks": False, "lies": "apart", "scales": (1.0, 1.0)}
    call = paged_call(case | rest, rng, short, long)
    k, v = call.pages.caches
    count, page, kv, d = k.shape
    keys = k.reshape(count, page, kv, d // 16, 16).transpose(0, 2, 3, 1, 4).copy()
    values = v.transpose(0, 2, 3, 1).copy()
    if case["values"] == "turned":
        values = values.reshape(count, kv, d, page // 16, 16).transpose(0, 1, 3, 2, 4).copy()
    scales = [block_scale(case[name], k, rng) for name in ("k_scale", "v_scale")]
    query = call.q.reshape(-1, *call.q.shape[-2:])
    out, lengths, scale = poisoned(lambda x: x, query), np.array(call.lengths, np.int32), case["scale"]
    windowed = {} if case["window"] is None else {"sliding_window": case["window"]}
    if case["by"] == "tile":
        functions["tile"](out, query, keys, values, call.pages.tables, lengths, *scales, scale, **windowed)
    else:
        used = [row[: -(-length // page)] for row, length in zip(call.pages.tables, lengths, strict=True)]
        starts = np.cumsum([0, *map(len, used)]).astype(np.int32)
        tables = {"block_tables": call.pages.tables} if case["by"] == "table" else {}
        listed = np.concatenate(used), starts
        functions["list"](out, query, keys, values, lengths, *listed, scale, *scales, **windowed, **tables)
    found = out.reshape(call.q.shape)
    for row, content in enumerate(call.pages.contents):
        pages, places = call.pages.tables[row], np.arange(len(content[0]))
        wide = [
            x.astype(np.float64) * (of_token(scale, pages[places // page], places % page))
            for x, scale in zip(content, scales, strict=True)
        ]
        parts = [x.swapaxes(0, 1)[None] for x in (call.q[row], *wide)]
        asked = {"is_causal": True, "window": (case["window"], None), "scale": case["scale"]}
        expected = attend(*parts, **asked, rounded="token" in (case["k_scale"], case["v_scale"]))
        check(found[row].swapaxes(0, 1)[None], None, expected, (case, call.lengths[row]))


def block_scale(kind: str, cache: Any, rng: np.random.Generator) -> Any:
    """Return a scale of a cache (pages, tokens, kv heads, d), whose places without a token are NaN."""
    if kind != "token":
        return {"none": None, "number": 0.5, "one": np.array([0.7], np.float32)}[kind]
    drawn = rng.uniform(0.5, 2, (len(cache), cache.shape[2], cache.shape[1])).astype(np.float32)
    return np.where(np.isnan(cache[..., 0].astype(np.float32)).swapaxes(1, 2), np.float32(np.nan), drawn)


def of_token(scale: Any, pages: Any, places: Any) -> Any:
    """Return the scales of tokens at places of pages, as (tokens, kv heads, 1), or the one that all have."""
    if np.ndim(scale) == 3:
        return scale[pages, :, places][..., None]
    return 1.0 if scale is None else np.float64(scale)


def laid(caches: tuple[Any, Any], lies: str, there: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Return caches on the device, as they lie: a device's copy of a part would lie apart."""
    d, dv = (cache.shape[-1] for cache in caches)
    if lies == "shared":
        keys = there(caches[0])
        return keys, keys[..., :dv]
    if lies == "together":
        both = there(np.concatenate(caches, -1))
        return both[..., :d], both[..., d:]
    return there(caches[0]), there(caches[1])

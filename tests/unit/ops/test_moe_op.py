"""`flydsl.ops.moe` on the virtual GPU: kinds, routers, masks, torch, and what it refuses."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.ops as ops
from flydsl.kernels.moe import references
from flydsl.kernels.moe.expert_weights import prepare_experts
from tests.support.experts import cosine
from tests.support.turns import in_turns

MODEL, INTER, EXPERTS, TOPK = 256, 128, 8, 2


def layer(
    rng: np.random.Generator, tokens: int, dtype: Any = ml_dtypes.bfloat16, experts: int = EXPERTS
) -> tuple[Any, Any, Any, Any]:
    x = rng.standard_normal((tokens, MODEL)).astype(dtype)
    # No two logits of a token are equal: which of two comes first is not torch's to say.
    logits = rng.permuted(np.tile(np.linspace(-2, 1.5, experts), (tokens, 1)), axis=1).astype(dtype)
    w1 = (rng.standard_normal((experts, 2 * INTER, MODEL)) / 16).astype(dtype)
    return x, logits, w1, (rng.standard_normal((experts, MODEL, INTER)) / 11).astype(dtype)


@pytest.mark.parametrize(
    ("arch", "kind", "least"),
    [("gfx942", "int4", 0.96), ("gfx950", "fp8", 0.996), ("gfx950", "fp8_blockscale", 0.996),
     ("gfx942", "int4_bf16", 0.96), ("sm_90a", "fp8_blockscale", 0.996)],
)  # fmt: skip
def test_kinds(arch: str, kind: str, least: float, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against weights that are not quantised: what is left is what the kind loses."""
    monkeypatch.setenv("ARCH", arch)
    x, logits, w1, w2 = layer(rng, 19)
    y = ops.moe(x, logits, ops.moe_weights(w1, w2, kind), topk=TOPK)
    want = references.moe(x, *references.route(logits, TOPK), w1, w2)
    assert y.dtype == x.dtype and cosine(y, want) > least


@pytest.mark.parametrize(("arch", "kind"), [("gfx942", "int8"), ("gfx950", "mxfp8"), ("gfx1250", "mxfp8")])
def test_a_mean_is_kept(arch: str, kind: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of positive numbers nothing is lost: integers cut off toward zero lost 7 % in two products, and floats 11 %
    whose scales, rounded down to a power of two, had no room for the largest."""
    monkeypatch.setenv("ARCH", arch)
    inter = 256
    x, logits, _, _ = layer(rng, 19)
    w1 = (abs(rng.standard_normal((EXPERTS, 2 * inter, MODEL))) / 16).astype(x.dtype)
    w2 = (abs(rng.standard_normal((EXPERTS, MODEL, inter))) / 11).astype(x.dtype)
    y = ops.moe(abs(x), logits, ops.moe_weights(w1, w2, kind), topk=TOPK)
    want = references.moe(abs(x), *references.route(logits, TOPK), w1, w2)
    assert abs(y.astype(float).sum() / want.sum() - 1) < 1e-2


@pytest.mark.parametrize(("arch", "experts"), [("gfx942", 130), ("sm_90a", 3)])
def test_numbers_of_experts(arch: str, experts: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any number, tokens that one block routes, and more; some lanes then have fewer experts than others."""
    monkeypatch.setenv("ARCH", arch)
    _, _, w1, w2 = layer(rng, 0, experts=experts)
    weights = ops.moe_weights(w1, w2)
    for tokens in in_turns((10, 150)):
        x = rng.standard_normal((tokens, MODEL)).astype(w1.dtype)
        # By their order alone, which rounding of f32 does not change.
        logits = rng.permuted(np.tile(np.linspace(-2, 2, experts, dtype=np.float32), (tokens, 1)), axis=1)
        out = np.full_like(x, np.nan)
        ops.moe(x, logits, weights, topk=TOPK, out=out)
        want = references.moe(x, *references.route(logits, TOPK), w1, w2)
        assert np.abs(out.astype(float) - want).max() < 2.0**-6 * np.abs(want).max()


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_routers_masks_and_shapes(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """One kind: ids and weights of the caller's, ids of no expert, half of the experts elsewhere, atomics, no token."""
    monkeypatch.setenv("ARCH", arch)
    x, _, w1, w2 = layer(rng, 12, np.float16)
    ids = rng.integers(-1, EXPERTS + 1, (12, TOPK)).astype(np.int32)
    weights = rng.uniform(0.2, 1, ids.shape).astype(np.float32)
    want = references.moe(x, ids, weights, w1, w2)
    shaped = ops.moe(x.reshape(3, 4, MODEL), (ids.reshape(3, 4, 2), weights.reshape(3, 4, 2)), w1, w2)
    assert shaped.shape == (3, 4, MODEL) and np.abs(shaped.reshape(12, -1) - want).max() < 2.0**-9 * np.abs(want).max()
    again = ops.moe(x, (ids, weights), w1, w2)
    assert shaped.tobytes() == again.tobytes(), "a run is like another"
    out = np.zeros_like(x)
    assert ops.moe(x, (ids, weights), w1, w2, atomic=True, out=out) is out
    assert cosine(out, want) > 0.99999

    apart, wide = np.zeros((12, 2 * MODEL), x.dtype), np.zeros((12, 2 * MODEL), x.dtype)
    apart[:, :MODEL], lists = x, np.zeros((12, 5), np.int32)
    lists[:, :TOPK] = ids
    ops.moe(apart[:, :MODEL], (lists[:, :TOPK], weights), w1, w2, out=wide[:, MODEL:])
    assert wide[:, MODEL:].tobytes() == again.tobytes() and (wide[:, :MODEL] == 0).all()

    mask = np.arange(EXPERTS, dtype=np.int32) % 2
    local = ops.moe_weights(w1[mask == 1], w2[mask == 1])
    here = np.where((ids >= 0) & (ids < EXPERTS) & (mask[ids % EXPERTS] == 1), ids, -1)
    part = ops.moe(x, (ids, weights), local, expert_mask=mask)
    np.testing.assert_allclose(part.astype(float), references.moe(x, here, weights, w1, w2), atol=2e-2)
    every_other = np.repeat(mask, 2)[::2]
    assert ops.moe(x, (ids, weights), local, expert_mask=every_other).tobytes() == part.tobytes()
    wide_ids, wide_weights = np.repeat(ids, 2, axis=1)[:, ::2], np.repeat(weights, 2, axis=1)[:, ::2]
    assert ops.moe(x, (wide_ids, wide_weights), w1, w2).tobytes() == again.tobytes()
    strange = np.where(ids < 0, 2**32 + 1, ids.astype(np.int64))  # whose low bits are an expert's
    assert ops.moe(x, (strange, weights), w1, w2).tobytes() == again.tobytes()
    assert ops.moe(x, (strange, weights), local, expert_mask=mask).tobytes() == part.tobytes()
    assert ops.moe(x[:0], (ids[:0], weights[:0]), w1, w2).shape == (0, MODEL)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1250", "sm_90a"])
def test_experts_that_a_mask_names_beyond_the_weights_count_nothing(
    arch: str, torch: Any, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mask in a GPU's memory is not read on the host: the last experts that it names have no weights here."""
    monkeypatch.setenv("ARCH", arch)
    monkeypatch.setattr("flydsl.ops.expert_layers.host_numbers", lambda _: None)
    x, logits, w1, w2 = layer(rng, 12)
    ids, weights = references.route(logits, TOPK)
    mask = np.array([0, 1, 1, 0, 1, 1, 1, 0], np.int8)
    short = np.where(np.cumsum(mask) <= 3, mask, 0).astype(np.int8)
    local = ops.moe_weights(*(w[short == 1] for w in (w1, w2)))
    for router, options in in_turns((((ids, weights), {}), (logits, {"topk": TOPK}))):
        many, few = (ops.moe(x, router, local, expert_mask=m, **options) for m in (mask, short))
        assert many.tobytes() == few.tobytes() and cosine(few, references.moe(
            x, np.where(short[ids] == 1, ids, -1), weights, w1, w2)) > 0.999  # fmt: skip
    rows, (first, second) = (torch.from_numpy(x.astype(np.float32)).bfloat16(), (
        torch.from_numpy(w[short == 1].astype(np.float32)).bfloat16() for w in (w1, w2)))  # fmt: skip
    found = []
    for m in (mask, short):
        given = [t.clone().requires_grad_() for t in (rows, first, second)]
        router = (torch.from_numpy(ids), torch.from_numpy(weights).requires_grad_())
        ops.moe(given[0], router, *given[1:], expert_mask=torch.from_numpy(m)).sum().backward()
        found.append([t.grad for t in (*given, router[1])])
    assert all(torch.equal(a, b) and a.isfinite().all() for a, b in zip(*found, strict=True))


def test_with_torch(torch: Any, rng: np.random.Generator) -> None:
    ops.register_operators()
    x, logits, w1, w2 = (torch.from_numpy(t.astype(np.float32)).bfloat16() for t in layer(rng, 9))
    experts = ops.moe_weights(w1, w2)
    y = ops.moe(x, logits, experts, topk=TOPK)
    weights, ids = torch.softmax(logits.float(), -1).topk(TOPK, -1)
    weights = weights / weights.sum(-1, keepdim=True)
    numbers = [t.float().numpy() for t in (x, w1, w2)]
    want = references.moe(numbers[0], ids.numpy(), weights.numpy(), *numbers[1:])
    assert cosine(y.float().numpy(), want) > 0.9999
    compiled = torch.compile(lambda a: ops.moe(a, (ids.int(), weights), experts), backend="eager", fullgraph=True)
    assert cosine(compiled(x).float().numpy(), want) > 0.9999
    parts = (experts.w1, experts.w2, None, None, None, experts.kind, experts.arch, False)
    learned = [t.clone().requires_grad_() for t in (x, weights, w1, w2)]
    for name, given in (
        ("moe", (x, ids.int(), weights, *parts)), ("moe_routed", (x, logits, *parts, TOPK, True)),
        ("moe_trained", (learned[0], ids.int(), *learned[1:], None, experts.arch)),
    ):  # fmt: skip
        checks = ["test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"]
        torch.library.opcheck(getattr(torch.ops.flydsl, name).default, given, test_utils=checks)


def torch_layer(torch: Any, x: Any, logits: Any, w1: Any, w2: Any, renormalize: bool) -> Any:
    """The layer by torch's own functions, and the chosen experts' weights."""
    weights, ids = torch.softmax(logits, -1).topk(TOPK, -1)
    weights = weights / weights.sum(-1, keepdim=True) if renormalize else weights
    weights.retain_grad()
    y = torch.zeros_like(x)
    for expert in range(w1.shape[0]):
        token, slot = torch.where(ids == expert)
        gate, up = (x[token] @ w1[expert].T).chunk(2, -1)
        rows = (torch.nn.functional.silu(gate) * up) @ w2[expert].T
        y = y.index_add(0, token, rows * weights[token, slot, None])
    return y, weights


@pytest.mark.parametrize(
    ("arch", "renormalize", "experts"), [("gfx942", True, EXPERTS), ("gfx1250", False, 19), ("sm_90a", True, 3)]
)
def test_gradients(
    arch: str, renormalize: bool, experts: int, torch: Any, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of tokens, logits and both matrices, against float64. Those of logits are a quarter, at most, of differences of
    what the weights have, which may cancel."""
    monkeypatch.setenv("ARCH", arch)
    tokens = int(rng.integers(1, 40))
    given = [torch.from_numpy(t.astype(np.float32)).bfloat16() for t in layer(rng, tokens, experts=experts)]
    got = [t.clone().requires_grad_() for t in given]
    want = [t.double().requires_grad_() for t in given]
    x, logits, w1, w2 = got
    y = ops.moe(x.reshape(1, tokens, MODEL), logits.reshape(1, tokens, experts), w1, w2, topk=TOPK,
                renormalize=renormalize)  # fmt: skip
    expected, weights = torch_layer(torch, want[0], want[1], want[2], want[3], renormalize)
    dy = torch.from_numpy(rng.standard_normal((tokens, MODEL)).astype(np.float32)).bfloat16()
    y.backward(dy.reshape(y.shape))
    expected.backward(dy.double())
    for mine, exact in zip(got, want, strict=True):
        assert mine.grad.dtype == mine.dtype and mine.grad.shape == mine.shape
        terms = weights.grad.abs().max() / 4 if exact is want[1] else 0.0
        assert (mine.grad.double() - exact.grad).abs().max() <= 2.0**-6 * max(exact.grad.abs().max(), terms)


def test_gradients_of_routing_weights_and_masked_experts(
    torch: Any, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids of no expert and experts that are elsewhere have no gradient; experts without tokens have zeros."""
    monkeypatch.setenv("ARCH", "gfx950")
    x, _, w1, w2 = (torch.from_numpy(t.astype(np.float32)).bfloat16() for t in layer(rng, 17))
    ids = torch.from_numpy(rng.integers(-1, EXPERTS - 1, (17, TOPK)).astype(np.int32))
    mask = torch.from_numpy((np.arange(EXPERTS) % 4 != 1).astype(np.int32))
    here = mask.bool()
    weights = torch.from_numpy(rng.uniform(0.2, 1, ids.shape).astype(np.float32)).requires_grad_()
    local = [w[here].clone().requires_grad_() for w in (w1, w2)]
    far = torch.where(ids < 0, 2**32, ids.long())  # whose low bits are an expert's
    y = ops.moe(x, (far, weights), *local, expert_mask=mask)
    dy = torch.from_numpy(rng.standard_normal((17, MODEL)).astype(np.float32)).bfloat16()
    y.backward(dy)
    exact, wide = weights.detach().double().requires_grad_(), [w.detach().double().requires_grad_() for w in local]
    counts = (ids >= 0) & here[ids.long()]
    names = torch.where(counts, (torch.cumsum(mask, 0) - 1)[ids.long()], -1)
    total = torch.zeros(17, MODEL, dtype=torch.float64)
    for expert in range(wide[0].shape[0]):
        token, slot = torch.where(names == expert)
        gate, up = (x.double()[token] @ wide[0][expert].T).chunk(2, -1)
        rows = (torch.nn.functional.silu(gate) * up) @ wide[1][expert].T
        total = total.index_add(0, token, rows * exact[token, slot, None])
    total.backward(dy.double())
    assert (weights.grad[~counts] == 0).all() and (local[0].grad[-1] == 0).all()
    for mine, want in zip((weights, *local), (exact, *wide), strict=True):
        assert (mine.grad.double() - want.grad).abs().max() <= 2.0**-6 * want.grad.abs().max()


def test_what_has_no_gradient(torch: Any, rng: np.random.Generator) -> None:
    x, logits, w1, w2 = (torch.from_numpy(t.astype(np.float32)).bfloat16() for t in layer(rng, 3))
    experts = ops.moe_weights(w1, w2)
    x.requires_grad_()
    with pytest.raises(NotImplementedError, match="gradients are for plain weights, given as they are"):
        ops.moe(x, logits, experts, topk=TOPK)
    with pytest.raises(ValueError, match="gradients go without it"):
        ops.moe(x, logits, w1, w2, topk=TOPK, atomic=True)
    with pytest.warns(RuntimeWarning, match="gradients are for extents that 64 divides"):
        ops.moe(x[:, :96], logits, w1[..., :96], w2[:, :96], topk=TOPK).sum().backward()
    assert x.grad is not None


def test_what_is_refused(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    x, logits, w1, w2 = layer(rng, 3)
    ids, weights = references.route(logits, TOPK)
    for call, message in (
        (lambda: ops.moe(x, logits, w1, w2), "logits of a router need topk"),
        (lambda: ops.moe(x, np.zeros((3, 16), np.float32), w1, w2, topk=2), "logits of 16 experts do not go with 8"),
        (lambda: ops.moe(x, logits[:2], w1, w2, topk=2), "logits have a row for each token"),
        (lambda: ops.moe(x, logits, w1, w2, topk=9), "topk is 1 to 8, the number of experts, got 9"),
        (lambda: ops.moe(x, (ids.astype(np.int16), weights), w1, w2), "ids are int32 or int64"),
        (lambda: ops.moe(x, (ids[:2], weights), w1, w2), "ids are int32 or int64 of"),
        (lambda: ops.moe(x.astype(np.float16), (ids, weights), w1, w2), "x is float16 and the weights are bfloat16"),
        (lambda: ops.moe(x[:, :128], (ids, weights), w1, w2), r"x and y are \(T, 256\)"),
        (lambda: ops.moe(x, (ids, weights), w1), "w1 goes with w2, unless it is what moe_weights made"),
        (
            lambda: ops.moe(x, (ids, weights), w1[:2], w2[:2], expert_mask=np.ones(8, np.int32)),
            "names 8 experts, and t",
        ),
        (lambda: ops.moe_weights(w1, w2[:, :128]), r"w1 of \(8, 256, 256\) goes with w2 of \(8, 256, 128\)"),
        (lambda: ops.moe_weights(w1, w2, "fp4"), "kind must be one of plain, fp8, int8, int4"),
        (lambda: ops.moe_weights(w1.astype(np.float32), w2), "weights are given in float16 or bfloat16"),
        (lambda: ops.moe_weights(w1[..., :96], w2[:, :96]), "model must be a positive multiple of 64"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(ValueError, match="model must be a positive multiple of 256 for mxfp4 weights, got 128"):
        prepare_experts(w1[..., :128], w2[:, :128], "mxfp4", "gfx950")
    assert ops.explain("moe", x, logits, w1, w2, topk=2) == "moe runs FlyDSL's kernels (moe) on the virtual GPU"
    experts = ops.moe_weights(w1, w2)
    monkeypatch.setenv("ARCH", "gfx950")
    with pytest.raises(ValueError, match="put in order for gfx942, and the input is on gfx950"):
        ops.moe(x, logits, experts, topk=2)
    monkeypatch.setenv("ARCH", "gfx1201")
    with pytest.raises(TypeError, match="experts have no kernels for gfx1201"):
        ops.moe(x, logits, w1, w2, topk=2)

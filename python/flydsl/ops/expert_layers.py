"""`flydsl.ops.moe` and `moe_weights`."""

from __future__ import annotations

from operator import index
from typing import Any

from flydsl.kernels.blocks.inputs import contiguous, on_host
from flydsl.kernels.moe.gradients import Gradients, experts_gradient
from flydsl.kernels.moe.layer import KINDS, Experts, Router, all_experts, prepare_experts, route_by, run_routed
from flydsl.kernels.moe.topk_gating import (
    build_topk_gating_gradient_module,
    build_topk_gating_softmax_module,
    lanes_of,
)
from flydsl.ops import arrays
from flydsl.ops.op import (
    Arguments,
    Op,
    all_there,
    check_written,
    fall_back,
    host_numbers,
    numpy_only,
    one_place,
    same_kind,
)

GRADIENT_STEP = 64
"""What extents of weights that have gradients are multiples of."""
WAVE = 32
"""Lanes that every target's waves have."""


# The op --------------------------------------------------------------------------------------------------------------


def _launch(arguments: Arguments, results: Arguments) -> None:
    x, ids, weights, w1, w2, scale1, scale2, mask, kind, arch, atomic = arguments
    topk = ids.shape[-1]
    router = Router(*(contiguous(value.reshape(-1, topk)) for value in (ids, weights)))
    _run(x, router, Experts(kind, arch, w1, w2, scale1, scale2), mask, atomic, results[0])


def _run(x: Any, router: Router, experts: Experts, mask: Any, atomic: bool, out: Any) -> None:
    line = out.reshape(-1)
    direct = arrays.shares_memory(line, out)  # else it is a copy of what is not contiguous
    y = (line if direct else arrays.empty(x, tuple(line.shape))).reshape(-1, out.shape[-1])
    run_routed(arrays.rows(x), router, experts, y, mask, atomic, arrays.stream_of(x))
    if not direct:
        arrays.copy_into(out, y.reshape(out.shape))


MOE = Op(
    "moe",
    "Tensor x, Tensor ids, Tensor weights, Tensor w1, Tensor w2, Tensor? scale1, Tensor? scale2, Tensor? mask, "
    "str kind, str arch, bool atomic",
    lambda x, *_: (arrays.empty_like(x),), _launch, tensors=8,
    check=lambda *given: _check_mask(on_host(given[7]), given[4].shape[0]),
)  # fmt: skip


def _launch_routed(arguments: Arguments, results: Arguments) -> None:
    """With logits: few tokens are routed where they are sorted, by one launch."""
    x, logits, w1, w2, scale1, scale2, mask, kind, arch, atomic, topk, renormalize = arguments
    experts = Experts(kind, arch, w1, w2, scale1, scale2)
    _run(x, route_by(contiguous(arrays.rows(logits)), topk, renormalize), experts, mask, atomic, results[0])


ROUTED = Op(
    "moe_routed",
    "Tensor x, Tensor logits, Tensor w1, Tensor w2, Tensor? scale1, Tensor? scale2, Tensor? mask, str kind, str arch, "
    "bool atomic, int topk, bool renormalize",
    lambda x, *_: (arrays.empty_like(x),), _launch_routed, tensors=7,
    check=lambda *given: _check_mask(on_host(given[6]), given[3].shape[0]),
)  # fmt: skip


def _launch_trained(arguments: Arguments, results: Arguments) -> None:
    """With weights as they come, which are put in order first."""
    x, ids, weights, w1, w2, mask, arch = arguments
    experts = prepare_experts(w1, w2, "plain", arch, arrays.stream_of(x))
    _launch((x, ids, weights, experts.w1, experts.w2, None, None, mask, "plain", arch, False), results)


def _launch_trained_backward(arguments: Arguments, results: Arguments) -> None:
    dy, x, ids, weights, w1, w2, mask, arch = arguments
    topk, model = ids.shape[-1], x.shape[-1]
    lists = [contiguous(ids.reshape(-1, topk)), contiguous(weights.reshape(-1, topk)), results[1].reshape(-1, topk)]
    dy, x = (contiguous(arrays.rows(value)) for value in (dy, x))
    if not x.shape[0]:
        for gradient in results:
            arrays.filled(gradient, 0)
        return
    out = Gradients(results[0].reshape(-1, model), lists[2], *results[2:])
    experts_gradient(dy, x, lists[0], lists[1], contiguous(w1), contiguous(w2), out, arch, mask, arrays.stream_of(x))


TRAINED_BACKWARD = Op(
    "moe_backward",
    "Tensor dy, Tensor x, Tensor ids, Tensor weights, Tensor w1, Tensor w2, Tensor? mask, str arch",
    lambda dy, x, ids, weights, w1, w2, *_: tuple(arrays.empty_like(value) for value in (x, weights, w1, w2)),
    _launch_trained_backward, tensors=7, results=4,
)  # fmt: skip
TRAINED = Op(
    "moe_trained", "Tensor x, Tensor ids, Tensor weights, Tensor w1, Tensor w2, Tensor? mask, str arch",
    lambda x, *_: (arrays.empty_like(x),), _launch_trained, tensors=6, gradient=TRAINED_BACKWARD,
    saved=lambda given, _: (given[:6], given[6:]), spread=(0, 0, 1, 2, 3),
    check=lambda *given: _check_mask(on_host(given[5]), given[4].shape[0]),
)  # fmt: skip
"""A layer of plain weights that has gradients: of x, of the routing weights and of both matrices."""


def _launch_routing(arguments: Arguments, results: Arguments) -> None:
    logits, topk, renormalize = arguments
    ids, weights = results
    flat = arrays.rows(logits)
    tokens, experts = flat.shape
    if tokens:
        run = build_topk_gating_softmax_module(experts, topk, arrays.NAMES[logits.dtype], renormalize)
        places = arrays.empty(logits, (tokens, topk), "i32")
        lists = [value.reshape(-1, topk) for value in (weights, ids)]
        arrays.launch(run, logits, flat, *lists, places, tokens)


def _launch_routing_backward(arguments: Arguments, results: Arguments) -> None:
    _, dweights, logits, ids, topk, renormalize = arguments
    flat, out = arrays.rows(logits), arrays.rows(results[0])
    tokens, experts = flat.shape
    if tokens:
        run = build_topk_gating_gradient_module(experts, topk, arrays.NAMES[logits.dtype], renormalize)
        lists = [contiguous(value.reshape(-1, topk)) for value in (ids, dweights)]
        arrays.launch(run, logits, flat, *lists, out, tokens)


ROUTE_BACKWARD = Op(
    "route_backward", "Tensor dids, Tensor dweights, Tensor logits, Tensor ids, int topk, bool renormalize",
    lambda _, __, logits, *___: (arrays.empty_like(logits),), _launch_routing_backward, tensors=4,
)  # fmt: skip
ROUTE = Op(
    "route", "Tensor logits, int topk, bool renormalize",
    lambda logits, topk, _: (arrays.empty(logits, (*logits.shape[:-1], topk), "i32"),
                             arrays.empty(logits, (*logits.shape[:-1], topk), "f32")),
    _launch_routing, outputs=2, results=2, gradient=ROUTE_BACKWARD,
    saved=lambda given, results: ((given[0], results[0]), given[1:]),
)  # fmt: skip


# What users call -----------------------------------------------------------------------------------------------------


def why_not(input: Any, router: Any, w1: Any, w2: Any, kind: str) -> str | None:
    """Return why a call is left to torch, or None."""
    routed = router if isinstance(router, tuple | list) else (router,)
    if routed is router and len(routed) != 2:
        raise ValueError(f"a router is logits, or a pair of ids and weights, got {len(routed)} arrays")
    all_there(w1=w1, router=None if any(x is None for x in routed) else router)
    if any(not x.shape for x in (input, *routed) if hasattr(x, "shape")):
        raise ValueError("tokens are (…, model), a router is logits (…, E), or ids and weights (…, topk); got one "
                         "without dimensions")  # fmt: skip
    one_place(input, *routed, None if isinstance(w1, Experts) else w1, w2)
    _check_weights(w1, w2)
    if arrays.type_name(input) not in ("f16", "bf16"):
        return f"experts are for f16 and bf16, and the input is {input.dtype}"
    if (reason := same_kind(input)) is not None:
        return reason
    if arrays.is_traced():
        return None if isinstance(w1, Experts) else "inside torch.compile weights are those of moe_weights"
    arch = arrays.arch_of(input)
    if arch not in KINDS:
        return f"experts have no kernels for {arch}; {', '.join(KINDS)} have"
    if not isinstance(router, tuple | list):
        try:
            lanes_of(router.shape[-1], WAVE)
        except ValueError as error:
            return str(error)
    if not _wants_gradient(input, router, w1, w2):
        return None
    if isinstance(w1, Experts) or kind != "plain":
        return "gradients are for plain weights, given as they are"
    if any(extent % GRADIENT_STEP for extent in w2.shape[1:]):
        return f"gradients are for extents that {GRADIENT_STEP} divides, and w2 is {tuple(w2.shape)}"
    return None


def _check_weights(w1: Any, w2: Any) -> None:
    if isinstance(w1, Experts):
        return
    if w2 is None:
        raise ValueError("w1 goes with w2, unless it is what moe_weights made")
    if len(w1.shape) != 3:
        raise ValueError(f"w1 is (E, 2 inter, model), got {tuple(w1.shape)}")


def _wants_gradient(input: Any, router: Any, w1: Any, w2: Any) -> bool:
    return arrays.wants_gradient(input, *(router if isinstance(router, tuple | list) else (router,)), w1, w2)


def moe_weights(w1: Any, w2: Any, kind: str = "plain") -> Experts:
    """Weights of experts as the kernels of their device read them; made once, for many calls.

    w1 is (E, 2 inter, model), gate rows before up rows, w2 (E, model, inter), f16 or bf16. A kind is "plain", or
    "fp8_blockscale" with a scale for each 128 x 128 weights and each 128 activations; on gfx942 and gfx950 also "fp8",
    "int8" and "int4" (activations have 8 bits, a scale for each row) and "int4_bf16".
    """
    return prepare_experts(w1, w2, kind, arrays.arch_of(w1), arrays.stream_of(w1))


def moe(
    input: Any, router: Any, w1: Any, w2: Any = None, *, topk: int | None = None, kind: str = "plain",
    renormalize: bool = True, expert_mask: Any = None, atomic: bool = False, out: Any = None,
) -> Any:  # fmt: skip
    """Return a mixture of experts: the sum over a token's experts e of weight_e * (silu(x gate_eᵀ) * (x up_eᵀ))
    down_eᵀ.

    ``input`` is (…, model), f16 or bf16. ``router`` is logits (…, E), of which the ``topk`` largest of a softmax are
    taken, or a pair: int32 ids (…, topk), and f32 weights. ``w1`` is what `moe_weights` made, or weights as it takes
    them with ``w2``, which are then put in order by each call. Ids of no expert count nothing. With ``expert_mask``
    (int32, of all experts) the weights are those of the experts where it is not 0, and the others count nothing.

    Sizes of groups stay on the device, so that a call may be captured into a graph. Rows of experts are f16 or bf16 and
    added up in f32, in a fixed order; with ``atomic`` by atomics, in the input's type. A plain result is within 2^-6 of
    the largest element in bf16 and 2^-9 in f16.
    """
    reason = why_not(input, router, w1, w2, kind)
    if reason is not None:
        if arrays.is_array(input):
            numpy_only("moe", reason)
        if isinstance(w1, Experts) or expert_mask is not None:
            raise NotImplementedError(f"flydsl.ops.moe: {reason}, and torch has nothing for these weights")
        return fall_back("moe", reason, lambda: _torch_moe(input, router, w1, w2, topk, renormalize), out)
    expert_mask = _checked_mask(expert_mask, input, w1.shape[0])
    if not isinstance(w1, Experts):
        _check_fit(input, router, w1, expert_mask)
        check_written("moe", out, input, input, w1, w2)
    if not isinstance(w1, Experts) and _wants_gradient(input, router, w1, w2):
        if atomic:
            raise ValueError("atomic=True adds in an order of its own: gradients go without it")
        ids, weights = _routed(router, topk, renormalize, input)
        return TRAINED(input, ids, weights, w1, w2, expert_mask, arrays.arch_of(input), out=out)
    routed = isinstance(router, tuple | list)
    chosen: Any = _routed(router, topk, renormalize, input) if routed else _checked(router, topk, input)
    experts = w1 if isinstance(w1, Experts) else moe_weights(w1, w2, kind)
    if not arrays.is_traced() and experts.arch != arrays.arch_of(input):
        raise ValueError(
            f"the weights were put in order for {experts.arch}, and the input is on {arrays.arch_of(input)}"
        )
    parts = (experts.w1, experts.w2, experts.scale1, experts.scale2, expert_mask, experts.kind, experts.arch, atomic)
    if routed:
        return MOE(input, *chosen, *parts, out=out)
    return ROUTED(input, router, *parts, chosen, renormalize, out=out)


def _check_fit(input: Any, router: Any, w1: Any, mask: Any) -> None:
    """Refuse what does not go with weights as they come, before they are put in order."""
    if input.shape[-1] != w1.shape[2]:
        raise ValueError(f"x and y are (T, {w1.shape[2]}), got x of {tuple(input.shape)}")
    if input.dtype != w1.dtype:
        raise ValueError(f"x is {input.dtype} and the weights are {w1.dtype}: give both the same type")
    count = all_experts(w1, mask)
    if not isinstance(router, tuple | list) and router.shape[-1] != count:
        raise ValueError(f"logits of {router.shape[-1]} experts do not go with {count}")


def _routed(router: Any, topk: int | None, renormalize: bool, input: Any) -> Any:
    if isinstance(router, tuple | list):
        ids, weights = router
        for name, value, types in (("ids", ids, ("int32", "int64")), ("weights", weights, ("float32",))):
            if str(value.dtype).removeprefix("torch.") not in types or value.shape[:-1] != input.shape[:-1]:
                raise ValueError(
                    f"{name} are {' or '.join(types)} of {(*input.shape[:-1], 'topk')}, got {value.dtype} of "
                    f"{tuple(value.shape)}"
                )
        if tuple(ids.shape) != tuple(weights.shape):
            raise ValueError(f"ids and weights have one shape, got {tuple(ids.shape)} and {tuple(weights.shape)}")
        if topk is not None and topk != ids.shape[-1]:
            raise ValueError(f"topk is {topk}, and ids name {ids.shape[-1]} experts of a token")
        return ids, weights
    return ROUTE(router, _checked(router, topk, input), renormalize)


def _checked(logits: Any, topk: int | None, input: Any) -> int:
    """Return how many experts a token goes to, of logits that go with the input."""
    if topk is None:
        raise ValueError("logits of a router need topk, how many experts a token goes to")
    if logits.shape[:-1] != input.shape[:-1]:
        raise ValueError(f"logits have a row for each token of {tuple(input.shape)}, got {tuple(logits.shape)}")
    if arrays.type_name(logits) is None:
        raise ValueError(f"logits of a router are f32, f16 or bf16, got {logits.dtype}")
    if not 1 <= index(topk) <= logits.shape[-1]:
        raise ValueError(f"topk is 1 to {logits.shape[-1]}, the number of experts, got {topk}")
    return index(topk)


def _checked_mask(mask: Any, input: Any, experts: int) -> Any:
    """Return a mask, or None, whose elements lie side by side."""
    if mask is None:
        return None
    one_place(input, mask)
    _check_mask(host_numbers(mask), experts)
    return contiguous(mask)


def _check_mask(mask: Any, experts: int) -> None:
    """Refuse a mask that names more experts than there are weights; None is not known."""
    named = 0 if mask is None else int((mask != 0).sum())
    if named > experts:
        raise ValueError(f"expert_mask names {named} experts, and there are weights of {experts}")


def _torch_moe(x: Any, router: Any, w1: Any, w2: Any, topk: int | None, renormalize: bool) -> Any:
    """Return the same by torch's own functions, with gradients."""
    torch = arrays.met_torch()
    if isinstance(router, tuple | list):
        ids, weights = router
    else:
        weights, ids = torch.softmax(router.float(), -1).topk(topk, -1)
        weights = weights / weights.sum(-1, keepdim=True).clamp_min(1e-20) if renormalize else weights
    flat, slots = x.reshape(-1, x.shape[-1]), ids.reshape(-1, ids.shape[-1])
    weights, result = weights.reshape(slots.shape), torch.zeros_like(flat, dtype=torch.float32)
    for expert in range(w1.shape[0]):
        token, slot = torch.where(slots == expert)
        gate, up = (flat[token] @ w1[expert].T).chunk(2, -1)
        rows = (torch.nn.functional.silu(gate) * up) @ w2[expert].T
        result = result.index_add(0, token, rows.float() * weights[token, slot, None])
    return result.to(x.dtype).reshape(x.shape)

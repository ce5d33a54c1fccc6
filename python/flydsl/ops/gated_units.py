"""`flydsl.ops.swiglu` and `geglu`."""

from __future__ import annotations

from typing import Any

from flydsl.kernels.norm.glu import build_glu_bwd_module, build_glu_module
from flydsl.ops import arrays
from flydsl.ops.op import Arguments, Constant, Op, fall_back, numpy_only, one_place, why_not_rows


def _launch(arguments: Arguments, results: Arguments) -> None:
    gate, up, out = (arrays.rows(value) for value in (*arguments[:2], results[0]))
    m, n = gate.shape
    if m and n:
        arrays.launch(build_glu_module(n, arrays.NAMES[gate.dtype], arguments[2]), gate, gate, up, out, m)


def _launch_backward(arguments: Arguments, results: Arguments) -> None:
    dout, gate, up, dgate, dup = (arrays.rows(value) for value in (*arguments[:3], *results))
    m, n = gate.shape
    if m and n:
        run = build_glu_bwd_module(n, arrays.NAMES[gate.dtype], arguments[3])
        arrays.launch(run, gate, dout, gate, up, dgate, dup, m)


BACKWARD = Op(
    "glu_backward", "Tensor dout, Tensor gate, Tensor up, str activation",
    lambda dout, gate, up, activation: (arrays.empty_like(gate), arrays.empty_like(up)), _launch_backward,
    tensors=3, results=2,
)  # fmt: skip
GLU = Op(
    "glu", "Tensor gate, Tensor up, str activation", lambda gate, up, activation: (arrays.empty_like(gate),), _launch,
    tensors=2, gradient=BACKWARD, saved=lambda a, _: (a[:2], (a[2],)), in_place=True,
)  # fmt: skip


def _halves(name: str, input: Any, up: Any) -> tuple[Any, Any]:
    if up is None:
        if not input.shape or input.shape[-1] % 2:
            raise RuntimeError(
                f"{name} of one array takes halves of its last dimension; got shape {tuple(input.shape)}"
            )
        half = input.shape[-1] // 2
        return input[..., :half], input[..., half:]
    if tuple(input.shape) != tuple(up.shape):
        raise ValueError(f"gate and up have one shape, got {tuple(input.shape)} and {tuple(up.shape)}")
    return input, up


def _gated(name: str, input: Any, up: Any, activation: str, out: Any, function: Any) -> Any:
    if up is not None and out is None and not arrays.is_followed():
        found = GLU.lanes.again(input, up, activation)
        if found is not None:
            return found
    one_place(input, up)
    reason = why_not_rows(input, up)
    gate, up = _halves(name, input, up)
    if reason is None:
        return GLU(gate, up, activation, out=out, key=(activation,))
    if arrays.is_array(input):
        numpy_only(name, reason)
    return fall_back(name, reason, lambda: function(gate) * up, out)


@GLU.answers("input", "up", Constant("silu"), absent=("out",))
def swiglu(input: Any, up: Any = None, *, out: Any = None) -> Any:
    """silu(gate) * up, of two arrays or of the halves of one's last dimension: ``silu(x[..., :n]) * x[..., n:]``.

    f32, f16 and bf16; computes in f32. Results and gradients are within 4e-6 of the largest element in f32 and within
    a rounding of the type else.
    """
    return _gated("swiglu", input, up, "silu", out, lambda x: arrays.met_torch().nn.functional.silu(x))


def geglu(input: Any, up: Any = None, approximate: str = "none", *, out: Any = None) -> Any:
    """gelu(gate) * up as `swiglu`; ``approximate="tanh"`` is torch's cheaper GELU. Accuracy as of `swiglu`,
    and of the gate's gradient with "tanh" 1e-5, if there are gates above -6: below, results are next to nothing."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    activation = "gelu" if approximate == "none" else "gelu_tanh"

    def reference(x: Any) -> Any:
        return arrays.met_torch().nn.functional.gelu(x, approximate=approximate)

    return _gated("geglu", input, up, activation, out, reference)

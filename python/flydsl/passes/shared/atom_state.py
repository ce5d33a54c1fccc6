"""The run-time state of an atom, read back from the chain of `atom.set_value` that made it."""

from __future__ import annotations

from xdsl.ir import SSAValue

from flydsl.base.errors import LoweringError
from flydsl.dialects.fly.ops import FlyOp

_MAKERS = ("make_copy_atom", "make_mma_atom", "static")


def atom_state(atom: SSAValue) -> dict[str, SSAValue]:
    """Field to the value set last."""
    found: dict[str, SSAValue] = {}
    made = atom.owner
    while isinstance(made, FlyOp) and made.spec.name == "atom.set_value":
        found.setdefault(made.attrs["field"], made.operands[1])
        made = made.operands[0].owner
    if not (isinstance(made, FlyOp) and made.spec.name in _MAKERS):
        raise LoweringError(
            f"the state of the atom {atom.type} is not known here: it comes through a loop, a branch or an argument",
            hint="make the atom and set its state in the same block as the call, or give the state to the call: "
            "gemm(..., scale_a=..., scale_b=...)",
        )
    return found

"""Which passes have a form of the original's own."""

from __future__ import annotations

from collections.abc import Callable

from flydsl.tools.original_forms.atoms import convert_fly_to_rocdl
from flydsl.tools.original_forms.canonical import canonicalize, fly_canonicalize
from flydsl.tools.original_forms.layouts import lower_layouts
from flydsl.tools.original_forms.registers import convert_atom_call_to_ssa_form, promote_regmem_to_vectorssa
from flydsl.tools.original_forms.signatures import rewrite_func_signature
from flydsl.tools.original_forms.swizzles import int_swizzle_simplify

ORIGINAL: dict[str, Callable[..., None]] = {
    "fly-rewrite-func-signature": rewrite_func_signature,
    "canonicalize": canonicalize,
    "fly-canonicalize": fly_canonicalize,
    "fly-layout-lowering": lower_layouts,
    "fly-int-swizzle-simplify": int_swizzle_simplify,
    "fly-convert-atom-call-to-ssa-form": convert_atom_call_to_ssa_form,
    "fly-promote-regmem-to-vectorssa": promote_regmem_to_vectorssa,
    "convert-fly-to-rocdl": convert_fly_to_rocdl,
}
"""Pass name to what runs it in `fly-opt` unless ``--as-compiled`` is given."""

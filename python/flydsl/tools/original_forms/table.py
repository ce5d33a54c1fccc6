"""Which passes have a form of the original's own."""

from __future__ import annotations

from collections.abc import Callable

from flydsl.tools.original_forms.atoms import convert_fly_to_rocdl
from flydsl.tools.original_forms.canonical import fly_canonicalize
from flydsl.tools.original_forms.layouts import lower_layouts
from flydsl.tools.original_forms.signatures import rewrite_func_signature

ORIGINAL: dict[str, Callable[..., None]] = {
    "fly-rewrite-func-signature": rewrite_func_signature,
    "fly-canonicalize": fly_canonicalize,
    "fly-layout-lowering": lower_layouts,
    "convert-fly-to-rocdl": convert_fly_to_rocdl,
}
"""Pass name to what runs it in `fly-opt` unless ``--as-compiled`` is given."""

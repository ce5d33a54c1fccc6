"""The older place of `fx.rocdl.tdm_ops`."""

from __future__ import annotations

from flydsl.expr.rocdl.tdm_ops import *  # noqa: F403
from flydsl.expr.rocdl.tdm_ops import __all__ as __all__

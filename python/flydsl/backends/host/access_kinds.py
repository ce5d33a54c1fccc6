"""Kinds of access to memory, to be added up, as `Workgroup.access` takes them; `native.h` explains them."""

from __future__ import annotations

from flydsl.native.constants import ACCESS_ATOMIC as ATOMIC
from flydsl.native.constants import ACCESS_ENGINE as ENGINE_ACCESS
from flydsl.native.constants import ACCESS_ORDERING as ORDERING
from flydsl.native.constants import ACCESS_QUIET as QUIET
from flydsl.native.constants import ACCESS_READ as READ
from flydsl.native.constants import ACCESS_WRITE as WRITE

__all__ = ["ATOMIC", "ENGINE_ACCESS", "ORDERING", "QUIET", "READ", "WRITE"]

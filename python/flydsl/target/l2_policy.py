"""How long the second-level cache keeps what an access brings: priorities, and an instruction that carries one.

Source: "PTX ISA 8.8", section 9.7.9.18 (createpolicy). The policy is made where it is used: it is a constant, which
ptxas keeps in uniform registers.
"""

from __future__ import annotations

from flydsl.base.errors import DslValueError

L2_PRIORITIES = ("evict_first", "evict_last", "evict_normal", "evict_unchanged")


def check_priority(priority: str | None) -> None:
    """Refuse what the cache does not know; None leaves it to itself."""
    if priority is not None and priority not in L2_PRIORITIES:
        raise DslValueError(f"unknown priority '{priority}' of the L2 cache", hint=f"use {', '.join(L2_PRIORITIES)}")


def under_policy(text: str, priority: str | None, vector: str = "") -> str:
    """PTX ``text``, an instruction whose name ends with ``vector`` if not with its qualifiers, under a policy."""
    if priority is None:
        return text
    name, operands = text.removesuffix(";").split(" ", 1)
    stem = name.removesuffix(vector)
    made = f"createpolicy.fractional.L2::{priority}.b64 policy, 1.0;"
    return f"{{ .reg .b64 policy; {made} {stem}.L2::cache_hint{vector} {operands}, policy; }}"

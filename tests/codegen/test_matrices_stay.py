"""Matrix instructions, and lanes that read each other, stay in front of a branch in which a few lanes use the results.

All lanes take part in them. In the branch they would take what lanes that do not run have in their registers.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from flydsl.codegen.device_build import DeviceBuild


class Product(NamedTuple):
    """A call of an intrinsic of A, B, C and perhaps scales."""

    arch: str
    name: str
    a: str
    c: str
    call: str
    """Its arguments, of %a, %b, %c and %s."""


V4, V8, V16 = "<4 x float>", "<8 x float>", "<16 x float>"
SCALED = "i32 0, i32 0, i32 0, i32 %s, i32 0, i32 %s"
PRODUCTS = (
    Product("gfx950", "mfma.scale.f32.16x16x128.f8f6f4.v8i32.v8i32", "<8 x i32>", V4, SCALED),
    Product("gfx950", "mfma.scale.f32.32x32x64.f8f6f4.v8i32.v8i32", "<8 x i32>", V16, SCALED),
    Product("gfx950", "mfma.f32.16x16x32.f16", "<8 x half>", V4, "i32 0, i32 0, i32 0"),
    Product("gfx942", "mfma.f32.32x32x8f16", "<4 x half>", V16, "i32 0, i32 0, i32 0"),
    Product("gfx1100", "wmma.f32.16x16x16.f16.v8f32.v16f16", "<16 x half>", V8, ""),
    Product("gfx1201", "wmma.f32.16x16x16.f16.v8f32.v8f16", "<8 x half>", V8, ""),
)


def text_of(product: Product) -> str:
    _, name, a, c, rest = product
    arguments = ", ".join(filter(None, (f"{a} %a", f"{a} %b", f"{c} %c", rest)))
    kinds = ", ".join(filter(None, (a, a, c, re.sub(r" (\d+|%\w+)", "", rest))))
    loads = "\n".join(
        f"%{place}.at = getelementptr i8, ptr addrspace(1) %own, i32 {64 * number}\n"
        f"%{place} = load {kind}, ptr addrspace(1) %{place}.at"
        for number, (place, kind) in enumerate((("a", a), ("b", a), ("c", c), ("s", "i32")))
    )
    return f"""
define amdgpu_kernel void @multiply(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {{
entry:
%t = call i32 @llvm.amdgcn.workitem.id.x()
%own = getelementptr [256 x i8], ptr addrspace(1) %in, i32 %t
{loads}
%x = call {c} @llvm.amdgcn.{name}({arguments})
%few = icmp slt i32 %t, %n
br i1 %few, label %store, label %done
store:
%at = getelementptr [256 x i8], ptr addrspace(1) %out, i32 %t
store {c} %x, ptr addrspace(1) %at
br label %done
done:
ret void
}}
declare i32 @llvm.amdgcn.workitem.id.x()
declare {c} @llvm.amdgcn.{name}({kinds})
"""


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: f"{product.arch} {product.name}")
def test_products_come_before_the_branch(product: Product) -> None:
    build = DeviceBuild("amdgcn-amd-amdhsa", product.arch, "", 3)
    lines = [line.strip() for line in build.assembly(text_of(product)).splitlines()]
    matrix = next(at for at, line in enumerate(lines) if re.match(r"v_(mfma|wmma)", line))
    assert matrix < branch_of(lines)


def branch_of(lines: list[str]) -> int:
    return next(at for at, line in enumerate(lines) if "saveexec" in line or line.startswith("v_cmpx"))


MOVES = {
    "permlane16.i32": ("i32 %a, i32 %a, i32 1, i32 2, i1 0, i1 0", "i32, i32, i32, i32, i1, i1"),
    "permlanex16.var": ("i32 %a, i32 %a, i32 %t, i1 0, i1 0", "i32, i32, i32, i1, i1"),
    "permlane64.i32": ("i32 %a", "i32"), "mov.dpp8.i32": ("i32 %a, i32 1234", "i32, i32"),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
def test_lanes_read_each_other_before_the_branch(name: str) -> None:
    arguments, kinds = MOVES[name]
    product = Product("gfx1201", "wmma", "i32", "i32", "")
    text = re.sub(r"%x = .*", f"%x = call i32 @llvm.amdgcn.{name}({arguments})", text_of(product))
    text = re.sub(r"declare i32 @llvm.amdgcn.wmma.*", f"declare i32 @llvm.amdgcn.{name}({kinds})", text)
    build = DeviceBuild("amdgcn-amd-amdhsa", product.arch, "", 3)
    lines = [line.strip() for line in build.assembly(text).splitlines()]
    read = next(at for at, line in enumerate(lines) if re.match(r"v_permlane|v_mov_b32_dpp", line))
    assert read < branch_of(lines)

"""Worker of `compile_time.py`, run by Triton's own interpreter: import, a first compile, further compiles.

The pointers and the length are stated to be multiples of 16, as Triton's launcher finds for itself on ordinary arrays.
It makes Triton's compile quicker than the general form, so it is the harder one to match.
"""

import sys

sys.path.insert(1, sys.path[0] + "/..")
from timing import Stopwatch

watch = Stopwatch()
with watch("import"):
    import triton

import triton_kernels as kernels  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

TYPES = {"x_ptr": "*fp32", "y_ptr": "*fp32", "output_ptr": "*fp32", "n_elements": "i32", "BLOCK_SIZE": "constexpr"}
MULTIPLES_OF_16 = {(i,): [["tt.divisibility", 16]] for i in range(4)}


def compiled(kernel):
    source = ASTSource(fn=kernel, signature=TYPES, constexprs={(4,): 1024}, attrs=MULTIPLES_OF_16)
    return triton.compile(source, target=GPUTarget("hip", "gfx942", 64), options={"num_warps": 4})


with watch("first compile"):
    result = compiled(kernels.FIRST)
for kernel in kernels.FURTHER:
    with watch("further compile"):
        compiled(kernel)

watch.report(version=triton.__version__, python=sys.version.split()[0], output_bytes=len(result.asm["hsaco"]))

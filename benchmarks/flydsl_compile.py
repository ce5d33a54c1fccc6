"""Worker of `compile_time.py` on our side: import, a first compile, further compiles.

Arrays are described, with a shape and no memory, so that nothing but flydsl decides what is loaded. With `check`, the
kernels then run on real arrays and their results are compared with NumPy's.
"""

from __future__ import annotations

import os
import sys

from timing import Stopwatch

LENGTH = 1 << 20


def measure(watch: Stopwatch) -> None:
    """Compile without loading or running: what `COMPILE_ONLY=1`, set by the parent, makes of a call."""
    with watch("import"):
        import flydsl.compiler
        import flydsl.expr

    import kernels_under_test as kernels

    arrays = [flydsl.compiler.TensorSpec((LENGTH,), "float32") for _ in range(3)]
    with watch("first compile"):
        kernels.FIRST.warmup(*arrays, LENGTH)
    for function in kernels.FURTHER:
        with watch("further compile"):
            function.warmup(*arrays, LENGTH)
    for function in (kernels.FIRST, *kernels.FURTHER):
        (made,) = function.specialisations
        assert made.device.startswith("rocm"), f"compiled for {made.device}"


def check() -> None:
    """Run what was compiled, on lengths with and without a remainder."""
    del os.environ["COMPILE_ONLY"]
    import kernels_under_test as kernels
    import numpy as np

    for function in (kernels.FIRST, *kernels.FURTHER):
        for n in (1, 1024, 5000):
            a, b = np.random.default_rng().random((2, n), dtype=np.float32)
            c = np.full(n + 8, np.nan, np.float32)
            function(a, b, c[:n], n)
            np.testing.assert_array_equal(c[:n], getattr(np, function.__name__)(a, b))
            assert np.isnan(c[n:]).all(), "written past the end"


def main() -> None:
    watch = Stopwatch()
    measure(watch)
    loaded = sorted({name.split(".")[0] for name in sys.modules} & {"xdsl", "llvmlite", "numpy", "ml_dtypes", "torch"})
    if sys.argv[1:] == ["check"]:
        check()
    import flydsl

    watch.report(version=flydsl.__version__, python=sys.version.split()[0], loaded=loaded)


if __name__ == "__main__":
    main()

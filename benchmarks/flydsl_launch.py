"""Worker of `warm_start.py` on our side: import, then one launch on the virtual GPU, checked.

NumPy is loaded before the clock starts: it is the program's, and Triton's side needs no arrays.
"""

from __future__ import annotations

import sys

import numpy as np
from timing import Stopwatch

LENGTH = 5000


def main() -> None:
    watch = Stopwatch()
    a, b = np.random.default_rng().random((2, LENGTH), dtype=np.float32)
    c = np.full(LENGTH, np.nan, np.float32)
    with watch("import"):
        import flydsl.compiler
        import flydsl.expr
    import kernels_under_test as kernels

    with watch("first launch"):
        kernels.FIRST(a, b, c, LENGTH)
    np.testing.assert_array_equal(c, a + b)
    loaded = sorted({name.split(".")[0] for name in sys.modules} & {"xdsl", "llvmlite", "torch"})
    watch.report(version=flydsl.__version__, python=sys.version.split()[0], loaded=loaded)


if __name__ == "__main__":
    main()

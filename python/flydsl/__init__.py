"""GPU kernels with explicit layouts: `flydsl.expr` (fx) is the language, `flydsl.compiler` (flyc) compiles it."""

__version__ = "0.1.0"

"""The raw layer: operations of MLIR's dialects built one by one, as kernels written against MLIR's bindings do.

`ir` has types, attributes and values, `dialects` the operations, `extras.types` the types as functions. Nothing of the
package imports it, so a program that does not either pays nothing for it.
"""

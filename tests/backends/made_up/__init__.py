"""A back end for a GPU that does not exist, the Abacus: all that FlyDSL has to be told of it, in one folder.

`target.py` has the facts, `family.py` says what follows stage A, `backend.py` ties them together and is what one
registers: ``flyc.register_backend("abacus", AbacusBackend)``.
"""

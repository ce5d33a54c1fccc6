"""Import paths of FlyDSL's kernels, for a checkout: each leads to a module of `flydsl`.

``kernels.norm.softmax`` is ``flydsl.kernels.norm.softmax`` itself, not a copy; `aliases.py` lists the names that
differ. Nothing here is installed: the library of an installation is `flydsl.kernels`, with `flydsl.ops`.
"""

from kernels import aliases

aliases.install()

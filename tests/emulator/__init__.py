"""An interpreter of AMD machine code: code objects run on NumPy arrays, one array a register.

It stands in for a GPU below HIP's interface (`device.py`), so that what runs is what a GPU would be given: the linked
code object, its kernel descriptor, the bytes of its arguments. It knows nothing of how this project makes code.

What it is strict about, where hardware would be silently wrong: results of loads and LDS accesses come as late as waits
allow, and until then their registers hold nonsense; accesses outside of allocations, of LDS or of a kernel's registers
end the run with the instruction's address.
"""

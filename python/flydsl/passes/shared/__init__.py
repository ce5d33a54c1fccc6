"""What passes share: walks, leaves, and the lowering of atoms."""

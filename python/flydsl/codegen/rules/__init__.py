"""What each operation means in LLVM text, dialect by dialect."""

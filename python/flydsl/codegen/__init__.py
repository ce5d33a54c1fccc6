"""From upstream dialects to LLVM IR text, object code and code loaded into this process."""

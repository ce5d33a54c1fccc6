"""What a kernel author holds: handles, int tuples, vectors."""

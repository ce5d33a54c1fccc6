"""Types with a place in memory: arrays, structs, storage, shared memory."""

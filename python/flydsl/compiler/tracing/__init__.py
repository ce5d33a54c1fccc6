"""Running a function once over SSA values, and the module it fills."""

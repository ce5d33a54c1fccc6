"""What a caller may ask of the compiler beside the arguments."""

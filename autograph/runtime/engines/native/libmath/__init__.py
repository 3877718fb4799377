"""Mathematical functions in machine code, to the last bit what the C library or NumPy gives."""

"""Python source in, converted Python source out; it knows nothing of the runtime."""

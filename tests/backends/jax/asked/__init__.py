"""Programs that people asked for: threads of users of JAX, each with what its writer wanted to write, in our words.

Each module names its thread. Its functions are plain Python on `jax.numpy`; `test_asked.py` runs them.
"""

"""The emitter: from lowered operations to instructions of the low-level IR, and optimizations of them.

`emitter.py` emits arithmetic and accesses to elements, with the value ranges of `value_ranges.py`. `loop_emitter.py`
does so in loops, by way of `guard_hoisting.py` and `speculation.py`, with polls for signals (`polling.py`), calls of
NumPy and the C library (`external_calls.py`, `products.py`, `pow_rules.py`), and arithmetic on vectors
(`vector_stores.py`, `buffers.py`). `list_items.py` has functions of all items of a list. `simd.py` is a pass
over finished blocks; `tier_up.py` prints a function, and builds its baseline tier.
"""

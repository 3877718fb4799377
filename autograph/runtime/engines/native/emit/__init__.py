"""The emitter: from lowered operations to instructions of the low-level IR, and what is saved on the way.

`emitter.py` computes numbers and elements, with what `value_ranges.py` knows of integers. `loop_emitter.py` does so in
loops: with guard hoisting, speculation, polls for signals (`polling.py`) and calls of functions of others
(`external_calls.py`, `pow_rules.py`). `simd.py` and `unroll.py` change blocks that have been emitted; `tier_up.py`
makes assembly of a function, and code that is compiled quickly first.
"""

"""The emitter: what lowered operations become in LLVM's text, and what is saved on the way.

`emitter.py` is the base, `external_calls.py` calls functions of others; `value_ranges.py`, `guard_hoisting.py`,
`speculation.py`, `simd.py` and `unroll.py` are what makes loops fast; `tier_up.py` is code that is compiled quickly
first.
"""

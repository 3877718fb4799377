"""Operations on whole arrays as loop nests.

`fusion.py` decides what goes into one nest, `loop_nest.py` is the nest, `inner_loop.py` and `outer_loops.py` its code,
`kernel.py` what runs. The others are ways to order the work: `strip_mining.py`, `row_schedules.py`, `multi_nest.py`,
`loop_interchange.py`; and how arrays are read and written: `views.py`, `in_place.py`, `reduction.py`.
"""

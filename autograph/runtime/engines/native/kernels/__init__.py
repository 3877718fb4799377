"""Operations on whole arrays as loop nests.

`fusion.py` decides what goes into one nest. `loop_nest.py` is the nest: what is computed for an element. `schedule.py`
says in which order elements are computed, and `schedule_rules.py` chooses; `loop_codegen.py` makes machine code of
both, `kernel.py` runs it. `multi_nest.py` and `loop_interchange.py` are about several nests, and one that is repeated;
`views.py`, `in_place.py` and `reduction.py` about how arrays are read, written and reduced.
"""

"""Operations on whole arrays as loop nests.

`fusion.py` decides which operations are one kernel. `nest_builder.py` makes a loop nest of them, which `loop_nest.py`
describes: the computation of an element. A schedule (`schedule.py`) is the order of the elements, and
`schedule_rules.py` chooses it. `loop_codegen.py` makes machine code of nest and schedule, with the inner loops of
`inner_loop.py` and the reductions of `reduction.py`. `entry_points.py` writes the function that Python calls, and
`kernel.py` compiles and runs it.

`multi_nest.py` fuses producers and consumers, `loop_interchange.py` moves a loop over iterations inside, and `views.py`
fuses slices.
"""

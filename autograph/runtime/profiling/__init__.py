"""Where the time of staged functions goes: by function, by line of the user's program, by node of a graph.

`recorder.py` holds the times while a profile is active: a tree of calls for each thread. `function_calls.py` measures
the calls of staged functions; `engines/numpy/instrument.py` the nodes of graphs. `profile.py` is `ag.profile`;
`flame_graph.py` writes its files for viewers. They import little, since `autograph profile` imports them before the
program.
"""

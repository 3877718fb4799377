"""The graph runtime (graphs, ops, passes, engines); it knows nothing of syntax."""

"""Ops that compute: ufuncs, reductions, linear algebra, transforms, statistics."""

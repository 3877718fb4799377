"""Engines: what makes a graph something that can be called."""

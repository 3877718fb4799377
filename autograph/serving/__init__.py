"""Saved functions over HTTP, in the shape of TensorFlow Serving's REST interface: `autograph serve`.

    app (routes, bodies, limits) → model (a loaded directory) → values (plain data ↔ arguments and results)

`server` runs the app until a signal, and answers all requests in flight before it ends. `values` and `model` need no
package of the extra `serve`.
"""

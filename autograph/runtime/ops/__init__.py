"""All ops: importing this package declares them."""

from autograph.runtime.ops.arrays import (  # noqa: F401
    casting,
    creation,
    index,
    joining,
    repetition,
    selection,
    shape,
    sorting,
    spacing,
)
from autograph.runtime.ops.gradients import adjoint_ops, shadow_container_ops, shadow_ops  # noqa: F401
from autograph.runtime.ops.mathematics import (  # noqa: F401
    covariance,
    decompositions,
    differences,
    einsum,
    elementwise,
    fft,
    linalg,
    norms,
    polynomials,
    products,
    quantiles,
    reductions,
    ufuncs,
)
from autograph.runtime.ops.python import (  # noqa: F401
    attributes,
    builtins,
    core,
    math,
    methods,
    operators,
    quiet,
    random,
    warnings,
)

"""`tf.data`: datasets, and iterators over them, eager and in staged loops.

A dataset makes iterators over rows: tuples of NumPy values, the leaves of an element. Its specs say how to build the
element from them. Begin with `elements.py`, which says that; `dataset.py` is the class, whose larger methods are in
`mapping.py` (functions of elements), `grouping.py` (batches, windows) and `mixing.py` (several datasets); `parallel.py`
has the threads, `iterators.py` what `iter` gives, `readers.py` the datasets that read files, `files.py` the formats.
"""

from autograph.compat.tensorflow.data import experimental
from autograph.compat.tensorflow.data.dataset import Dataset, Options
from autograph.compat.tensorflow.data.elements import DatasetSpec
from autograph.compat.tensorflow.data.iterators import DatasetIterator as Iterator
from autograph.compat.tensorflow.data.readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset

AUTOTUNE = -1
INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -2

__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "DatasetSpec", "FixedLengthRecordDataset",
    "Iterator", "Options", "TFRecordDataset", "TextLineDataset", "experimental",
]  # fmt: skip

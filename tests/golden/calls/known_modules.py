# Names from imports tell what needs no conversion. NumPy's creation and random functions and `math` are wrapped,
# because they must see that they are being traced.
# >>> f(4.0)
import math
import os.path
import numpy as np
from collections import deque
from json import dumps as to_json
from math import sqrt
from numpy import linalg


def f(x):
    a = np.sin(np.zeros(2)) + linalg.norm(np.ones(3))
    b = math.floor(x) + sqrt(x)
    c = os.path.join("a", "b") + to_json([1])
    return a.sum() > 0, b, c, deque([1], maxlen=2)

# ------------------------------------------------------------ becomes
import math
import os.path
import numpy as np
from collections import deque
from json import dumps as to_json
from math import sqrt
from numpy import linalg


def f(x):
    a = np.sin(ag__.call(np.zeros)(2)) + linalg.norm(ag__.call(np.ones)(3))
    b = ag__.call(math.floor)(x) + ag__.call(sqrt)(x)
    c = os.path.join("a", "b") + to_json([1])
    return ag__.call(a.sum)() > 0, b, c, deque([1], maxlen=2)

"""Calls of ops on arrays, for `test_calls`, where the variables are."""

SHAPE = """
np.reshape(m, (3, 2))
np.reshape(m, -1)
np.reshape(m, (k, 6))
np.reshape(m, (k, -1))
np.reshape(a, (2, -1, 2))
np.reshape(s, (1, 1))
np.reshape(z, ())
np.reshape(s, ())
np.reshape(x, ())
np.reshape([1, 2], (2, 1))
m.reshape(3, 2)
m.reshape((3, 2))
m.reshape(-1)
m.reshape([3, -1])
m.reshape(6, order="F")
z.reshape(())
s.reshape(())
s.reshape(1)
np.ravel(m)
np.ravel(x)
np.ravel(m.T)
m.ravel()
m.flatten()
s.flatten()
z.flatten()
np.resize(v, (2, 2))
np.resize(v, 5)
np.resize(e, 5)
np.resize(v, 3)
np.resize(x, ())
np.expand_dims(m, 0)
np.expand_dims(m, (0, -1))
np.expand_dims(x, 0)
np.squeeze(o)
np.squeeze(o, 0)
np.squeeze(o, (0, 2))
np.squeeze(u)
np.squeeze(x)
np.squeeze(s)
o.squeeze()
o.squeeze(axis=-1)
u.squeeze()
s.squeeze()
np.transpose(m)
np.transpose(a, (2, 0, 1))
np.transpose(a, [1, 0, -1])
np.transpose(s)
np.transpose(x)
m.transpose()
a.transpose(2, 0, 1)
a.transpose((2, 0, 1))
a.transpose(None)
s.transpose()
np.permute_dims(a, (2, 0, 1))
np.matrix_transpose(a)
np.swapaxes(a, 0, -1)
a.swapaxes(0, 1)
np.moveaxis(a, 0, -1)
np.moveaxis(a, (0, 1), (2, 0))
np.moveaxis(a, [2, 0], [0, 1])
np.rollaxis(a, 2)
np.rollaxis(a, 0, 3)
np.rollaxis(a, 1, -1)
np.flip(m)
np.flip(m, 0)
np.flip(z)
np.flip(x)
np.flipud(v)
np.fliplr(m)
np.roll(m, 1)
np.roll(m, (1, 2), axis=(0, 1))
np.roll(z, 1)
np.roll(x, 1)
np.roll(s, 1)
np.roll(e, 1)
np.roll(m, k)
np.rot90(m)
np.rot90(m, k)
np.rot90(m, 2)
np.rot90(m, 4)
np.rot90(a, 3, axes=(1, 2))
np.broadcast_to(v, (2, 3))
np.broadcast_to(x, 3)
np.broadcast_to(x, ())
np.broadcast_to(v, (k, 3))
np.broadcast_to(v, m.shape)
np.broadcast_arrays(v, m)
np.broadcast_arrays(v, x)
np.broadcast_arrays(o, v)
np.broadcast_arrays()
np.broadcast_shapes((1, 3), (2, 1), 3)
np.atleast_1d(z)
np.atleast_1d(x, m)
np.atleast_2d(v)
np.atleast_2d(x, a)
np.atleast_3d(v)
np.atleast_3d(m)
np.atleast_3d(s, a)
np.shape(m)
np.shape(x)
np.shape([[1, 2]])
np.ndim(m)
np.ndim(x)
np.size(m)
np.size(m, 0)
np.size([1, 2])
"""

JOINING = """
np.concatenate([v, w])
np.concatenate((m, n), axis=1)
np.concatenate((m, n), axis=-1)
np.concatenate((m, v), axis=None)
np.concatenate([v, i])
np.concatenate([v, [1, 2]])
np.concatenate([m, n], k)
np.concatenate(a)
np.concatenate([v, w], dtype=np.float32, casting="unsafe")
np.concatenate((x, v), axis=None)
np.stack([v, w])
np.stack([v, w], axis=-1)
np.stack([v, i, w], 1)
np.stack([x, x])
np.stack((k, x, s))
np.stack(a, axis=1)
np.stack([v, w], axis=k)
np.vstack([v, m])
np.vstack([x, x])
np.vstack(m)
np.hstack([v, w])
np.hstack([m, l.T])
np.hstack([x, v])
np.dstack([v, w])
np.dstack([m, n])
np.column_stack([v, m.T])
np.column_stack([v, w])
np.block([[m, n], [n, m]])
np.block([v, w])
np.block([v, x])
np.block([[m], [v]])
np.block(v)
np.append(v, 1.0)
np.append(m, v)
np.append(m, n, axis=0)
np.append(v, k)
np.insert(v, 1, x)
np.insert(v, k, x)
np.insert(v, 1, w)
np.insert(m, 1, x)
np.insert(m, 1, x, axis=1)
? np.insert(m, 1, v, axis=0)
? np.insert(l, 1, np.ones(3), axis=1)
? np.insert(v, [0, 1], x)
? np.insert(v, i, w)
? np.insert(v, slice(0, 2), x)
np.insert(v, one, x)
np.delete(v, 1)
np.delete(v, k)
np.delete(m, 1)
np.delete(m, 1, axis=1)
np.delete(m, slice(0, 2), axis=1)
? np.delete(v, [0, 0])
? np.delete(v, b)
? np.delete(v, i)
np.delete(v, one)
np.tile(v, 2)
np.tile(v, (2, 1))
np.tile(m, k)
np.tile(x, 3)
np.tile(x, ())
np.tile(m, (1, 1))
np.tile(v, 0)
np.repeat(m, 2)
np.repeat(m, 2, axis=1)
np.repeat(x, 3)
np.repeat(s, 3)
? np.repeat(v, [1, 2, 0])
? np.repeat(v, i)
m.repeat(2, axis=0)
m.repeat(k)
z.repeat(2)
s.repeat(2)
np.pad(v, 1)
np.pad(m, (1, 2))
np.pad(m, ((1, 0), (0, 2)), "edge")
np.pad(m, [(1, 0), (0, 2)], constant_values=k)
np.pad(m, k)
np.pad(v, 0)
np.split(v, 3)
np.split(v, [1])
np.split(m, 3, axis=1)
np.array_split(v, 2)
np.hsplit(m, 3)
np.vsplit(m, 2)
np.dsplit(a, 2)
np.unstack(m)
np.unstack(a, axis=1)
"""

INDEX = """
v[0]
v[-1]
v[k]
v[d]
v[one]
v[()]
v[...]
v[0, ...]
v[None]
v[1:]
v[:-1]
v[::2]
v[::-1]
v[k:]
v[:k, None]
v[i]
v[j]
? v[b]
v[[0, 2]]
v[[k, 0]]
v[[]]
v[True]
v[t]
? v[i > 0]
m[0]
m[0, 1]
m[k, k]
m[0, :]
m[:, 0]
m[:, [0, 2]]
m[[0, 1], [1, 2]]
m[([0, 1], [1, 2])]
m[j]
? m[p]
? m[:, b]
? m[0, b]
? m[b[:2], 0]
m[..., 0]
m[..., 0, 0]
m[0, 0, ...]
m[0][1]
m[1:, ::2]
m[None, :, None]
m[k, None]
a[0, :, [0, 1]]
a[:, 0, [0, 1]]
a[[0, 1], :, 0]
a[[0, 1], ..., 0]
a[0, [0, 1], 0]
a[[0, 1], None, 0]
a[:, [[0], [1]], [0, 1, 2]]
? a[p]
a[:, :, [True, False, True, False]]
? a[p, 0]
? a[0, b, 0]
a[True, 0]
a[True, :, [0, 1]]
a[one, 0]
a[one, :, i[:2]]
a[0, 1, 2]
a[(0, 1, 2)]
a[0, 1, one]
z[()]
z[...]
z[None]
s[()]
s[...]
s[None]
(1, x, "y")[1]
(1, x, v)[k]
(1, x, v)[:2]
(1, x, v)[k:]
"text"[k]
"text"[1:]
range(3)[k]
range(3)[1:]
# [1, 2][k]
# {"a": 1}["a"]
np.take(v, 0)
np.take(v, k)
np.take(v, i)
np.take(m, j, axis=1)
np.take(m, k, axis=1)
np.take(m, one)
np.take(m, [0, 1], axis=0)
np.take(x, 0)
np.take(v, [0, 1], mode="wrap")
v.take(0)
v.take(i)
m.take(i, 1)
s.take(0)
np.take_along_axis(m, i[None], axis=1)
np.take_along_axis(m, i[:2] * 0, axis=None)
? np.compress(b, v)
? np.compress(b, m, axis=1)
? np.compress([True, False], m, 0)
? v.compress(b)
? m.compress(b, axis=1)
? np.extract(b, v)
? np.extract(p, m)
? np.trim_zeros(v)
# np.trim_zeros([0, 1, 0])
np.choose(i, [v, v, w])
np.choose(i, (1, x, 2))
np.choose(k, [v, w])
np.choose(k, [1, 2])
np.choose(j, (k, x))
i.choose([v, v, w])
np.diagonal(m)
np.diagonal(m, 1)
np.diagonal(a, 0, 1, 2)
np.diagonal(m, k)
np.diagonal(m, 5)
m.diagonal(-1)
a.diagonal(axis1=2, axis2=0)
np.linalg.diagonal(a)
np.linalg.diagonal(m, offset=1)
? np.nonzero(m)
? m.nonzero()
? np.flatnonzero(m)
? np.argwhere(m)
? np.argwhere(x)
np.ix_([0, 1], [0, 2])
? np.ix_(i, b)
np.ix_(i[:2], i)
np.unravel_index(k, (2, 3))
np.unravel_index(i, (2, 3))
np.unravel_index(k, m.shape)
np.unravel_index(2, 6)
np.ravel_multi_index((k, 2), (2, 3))
np.ravel_multi_index((j, 0), (2, 3))
? np.tril_indices(3)
? np.triu_indices(3, 1)
? np.triu_indices_from(q)
np.diag_indices(3)
np.diag_indices_from(q)
np.select([v > 2, v > 1], [v, w], 0)
np.select([p], [m])
np.select([p, p], [1, v], 2.5)
np.put(v, i, w)
np.place(v, b, [1])
np.putmask(v, b, w)
np.copyto(v, w)
np.put_along_axis(m, i[None], 0, axis=1)
np.fill_diagonal(m, 0)
v.put(i, 0)
m.shape
m.ndim
m.size
m.dtype
m.T
a.mT
m.real
m.imag
z.real
s.real
s.imag
s.T
x.real
x.imag
k.real
k.imag
k.numerator
c.real
t.real
m.itemsize
m.nbytes
m.strides
m.flat
s.shape
s.dtype
range(3).stop
# np.linalg.qr(q).Q
"""

SORTING = """
np.sort(m)
np.sort(m, axis=0)
np.sort(m, axis=None)
np.argsort(v)
np.argsort(m, axis=None)
m.argsort()
m.argsort(0)
np.partition(v, 1)
np.partition(m, k, axis=0)
np.argpartition(v, 1)
v.argpartition(k)
np.sort_complex(v)
np.lexsort((v, w))
np.lexsort(m)
np.searchsorted(v, x)
np.searchsorted(v, w)
np.searchsorted(v, 2, side="right")
np.searchsorted(v, m)
v.searchsorted(w)
v.searchsorted(x)
np.digitize(x, [0, 1, 2])
np.digitize(m, [0, 1, 2])
np.digitize(x, np.array([0.0, 1]))
? np.bincount(i)
? np.bincount(i, weights=v)
? np.bincount(i, minlength=k)
np.histogram(v)
np.histogram(v, 3)
? np.histogram(v, k)
np.histogram(v, [0, 1, 2])
np.histogram(v, np.arange(3) / 2)
? np.histogram(v, bins="auto")
np.histogram(v, 4, density=True)
np.histogram(v, 4, weights=w)
np.histogram(v, 4, (0, 1), None, w)
np.histogram_bin_edges(v, 3)
? np.unique(m)
? np.unique(v, return_index=True)
? np.unique(m, return_inverse=True)
? np.unique(m, True, True, True)
? np.unique(m, axis=0)
# np.unique(m, axis=0, return_inverse=True)
? np.unique(x)
? np.unique_all(m)
? np.unique_counts(m)
? np.unique_inverse(m)
? np.unique_values(m)
np.isin(v, [1, 2])
np.isin(x, v)
? np.intersect1d(v, w)
? np.intersect1d(v, [1, 2], return_indices=True)
? np.union1d(v, i)
? np.setxor1d(v, w)
? np.setdiff1d(v, w)
? np.setdiff1d(v, w, True)
"""

TABLES = [SHAPE, JOINING, INDEX, SORTING]

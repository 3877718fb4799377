"""The programs of loops.py as TensorFlow's AutoGraph takes them, which knows no arrays that are written to."""

import os

os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}

import tensorflow as tf
from loops import collatz, lorenz


def collatz_sum(count):
    total = tf.zeros((), tf.int64)
    for start in tf.range(1, count):
        total += tf.cast(collatz(start), tf.int64)
    return total


def edit_distance(a, b):
    row = tf.range(len(b) + 1, dtype=tf.int64)
    for letter in a:
        left = row[0] + 1
        new = tf.TensorArray(tf.int64, size=len(b) + 1).write(0, left)
        for j in tf.range(1, len(b) + 1):
            corner = row[j - 1] + tf.cast(letter != b[j - 1], tf.int64)
            left = tf.minimum(tf.minimum(row[j], left) + 1, corner)
            new = new.write(j, left)
        row = new.stack()
    return row[-1]


def sieve(n):
    prime = tf.concat([tf.zeros(2, tf.bool), tf.ones(n - 1, tf.bool)], axis=0)
    i = tf.constant(2)
    while i * i <= n:
        if prime[i]:
            j = i * i
            while j <= n:
                prime = tf.tensor_scatter_nd_update(prime, [[j]], [False])
                j += i
        i += 1
    return tf.reduce_sum(tf.cast(prime, tf.int64))


def lu(a):
    at = tf.range(len(a))
    for k in at:
        factors = tf.where(at > k, a[:, k] / a[k, k], 0)
        below = a - factors[:, None] * tf.where(at > k, a[k], 0)
        a = tf.where((at == k) & (at[:, None] > k), factors[:, None], below)
    return a


def sift(x, root, end):
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and x[child] < x[child + 1]:
            child += 1
        if x[root] >= x[child]:
            break
        x = tf.tensor_scatter_nd_update(x, [[root], [child]], [x[child], x[root]])
        root = child
    return x


def heap_sort(x):
    n = len(x)
    for start in tf.range(n // 2 - 1, -1, -1):
        x = sift(x, start, n)
    for end in tf.range(n - 1, 0, -1):
        x = sift(tf.tensor_scatter_nd_update(x, [[0], [end]], [x[end], x[0]]), 0, end)
    return x


def mandelbrot(height, width, iterations):
    re = -2.0 + 3.0 * tf.range(width, dtype=tf.float64) / width
    im = -1.0 + 2.0 * tf.range(height, dtype=tf.float64)[:, None] / height
    x = y = tf.zeros((height, width), tf.float64)
    count = tf.zeros((height, width), tf.int64)
    for _ in tf.range(iterations):
        inside = x * x + y * y <= 4.0
        x, y = tf.where(inside, x * x - y * y + re, x), tf.where(inside, 2.0 * x * y + im, y)
        count += tf.cast(inside, tf.int64)
    return count


STATIC = {"sieve": (0,), "mandelbrot": (0, 1)}      # the arguments that say how large arrays are
PROGRAMS = (collatz, collatz_sum, edit_distance, sieve, lu, heap_sort, lorenz, mandelbrot)

"""Losses: functions of predictions and targets that return a number, or one for each example.

`reduction` is "mean", "sum" or "none". Predictions and targets must have one shape, since broadcasting them would give
a wrong loss. The result has the dtype of their difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.nn.activations import log_softmax

__all__ = ["binary_cross_entropy", "binary_cross_entropy_with_logits", "huber", "mae", "mse", "softmax_cross_entropy"]


def mse(predictions: Any, targets: Any, reduction: str = "mean") -> Any:
    """Squared errors.

    Args:
        predictions: an array of floats.
        targets: a number, or an array of the same shape.
        reduction: "mean" or "sum" of the losses, or "none" to get them all.

    Returns:
        a number, or an array of losses.

    Raises:
        ValueError: the shapes differ, or there is no such reduction.

    Example:
        >>> float(nn.mse(np.array([1.0, 4.0]), np.array([1.0, 2.0])))
        2.0
    """
    _check_shapes(predictions, targets)
    return _reduced((predictions - targets) ** 2, reduction)


def mae(predictions: Any, targets: Any, reduction: str = "mean") -> Any:
    """Absolute errors.

    Args:
        predictions: an array of floats.
        targets: a number, or an array of the same shape.
        reduction: "mean" or "sum" of the losses, or "none" to get them all.

    Returns:
        a number, or an array of losses.

    Raises:
        ValueError: the shapes differ, or there is no such reduction.

    Example:
        >>> float(nn.mae(np.array([1.0, 4.0]), np.array([1.0, 2.0])))
        1.0
    """
    _check_shapes(predictions, targets)
    return _reduced(np.abs(predictions - targets), reduction)


def huber(predictions: Any, targets: Any, delta: float = 1.0, reduction: str = "mean") -> Any:
    """Half of the squared errors up to `delta`, and a linear function of larger errors (Huber, 1964).

    Args:
        predictions: an array of floats.
        targets: a number, or an array of the same shape.
        delta: the error above which the loss is linear.
        reduction: "mean" or "sum" of the losses, or "none" to get them all.

    Returns:
        a number, or an array of losses.

    Raises:
        ValueError: the shapes differ, or there is no such reduction.

    Example:
        >>> nn.huber(np.array([0.5, 4.0]), 0.0, reduction="none")
        array([0.125, 3.5  ])
    """
    _check_shapes(predictions, targets)
    errors = np.abs(predictions - targets)
    within = np.minimum(errors, delta)
    return _reduced(within * (errors - 0.5 * within), reduction)


def softmax_cross_entropy(logits: Any, labels: Any, reduction: str = "mean") -> Any:
    """The negative logarithm of the probability of the right class in `softmax(logits)`.

    Args:
        logits: of shape (…, classes).
        labels: class numbers of shape (…), or probabilities of shape (…, classes), such as those of `one_hot`.
        reduction: "mean" or "sum" of the losses, or "none" to get them all.

    Returns:
        a number, or an array of losses.

    Raises:
        ValueError: there is no such reduction.

    Example:
        >>> round(float(nn.softmax_cross_entropy(np.array([[1.0, 1.0]]), np.array([0]))), 3)
        0.693
    """
    log_probabilities = log_softmax(logits)
    labels = np.asarray(labels)
    if np.ndim(labels) < np.ndim(logits):
        chosen = np.take_along_axis(log_probabilities, labels[..., None], axis=-1)
        return _reduced(-chosen[..., 0], reduction)
    return _reduced(-np.sum(labels * log_probabilities, axis=-1), reduction)


def binary_cross_entropy(probabilities: Any, targets: Any, reduction: str = "mean", epsilon: float = 1e-7) -> Any:
    """The negative logarithm of the probability of the target.

    Args:
        probabilities: the probabilities of 1; they are clipped to the range from `epsilon` to 1 - `epsilon`.
        targets: numbers from 0 to 1, of the same shape.
        reduction: "mean" or "sum" of the losses, or "none" to get them all.
        epsilon: the smallest probability.

    Returns:
        a number, or an array of losses.

    Raises:
        ValueError: the shapes differ, or there is no such reduction.

    Example:
        >>> round(float(nn.binary_cross_entropy(np.array([0.5]), np.array([1.0]))), 3)
        0.693
    """
    _check_shapes(probabilities, targets)
    p = np.clip(probabilities, epsilon, 1 - epsilon)
    return _reduced(-(targets * np.log(p) + (1 - targets) * np.log1p(-p)), reduction)


def binary_cross_entropy_with_logits(logits: Any, targets: Any, reduction: str = "mean") -> Any:
    """The same as `binary_cross_entropy(sigmoid(logits), …)`, but exact for large logits, too.

    Args:
        logits: an array of floats.
        targets: numbers from 0 to 1, of the same shape.
        reduction: "mean" or "sum" of the losses, or "none" to get them all.

    Returns:
        a number, or an array of losses.

    Raises:
        ValueError: the shapes differ, or there is no such reduction.

    Example:
        >>> float(nn.binary_cross_entropy_with_logits(np.array([-1000.0]), np.array([1.0])))
        1000.0
    """
    _check_shapes(logits, targets)
    return _reduced(np.logaddexp(logits, 0) - logits * targets, reduction)


def _check_shapes(predictions: Any, targets: Any) -> None:
    """Check that both have one shape: broadcasting would give a wrong loss."""
    if np.ndim(targets) and np.shape(predictions) != np.shape(targets):
        raise ValueError(
            f"predictions of shape {np.shape(predictions)} are compared with targets of shape {np.shape(targets)}: "
            "give them one shape, by reshape or np.squeeze"
        )


def _reduced(losses: Any, reduction: str) -> Any:
    if reduction == "mean":
        return np.mean(losses)
    if reduction == "sum":
        return np.sum(losses)
    if reduction == "none":
        return losses
    raise ValueError(f'reduction is "mean", "sum" or "none", not {reduction!r}')

"""`tf.config`: how functions run, and the devices."""

from __future__ import annotations

from collections import namedtuple
from types import SimpleNamespace
from typing import Any

from autograph.compat.tensorflow.core.graphs import functions_run_eagerly, run_functions_eagerly

PhysicalDevice = namedtuple("PhysicalDevice", ["name", "device_type"])
LogicalDeviceConfiguration = namedtuple("LogicalDeviceConfiguration", ["memory_limit"], defaults=[None])


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """List the devices: one CPU."""
    return [PhysicalDevice("/physical_device:CPU:0", "CPU")] if device_type in (None, "CPU") else []


def set_logical_device_configuration(device: Any, logical_devices: Any) -> None:
    """Does nothing: there is one device."""


experimental = SimpleNamespace(
    list_physical_devices=list_physical_devices,
    set_virtual_device_configuration=set_logical_device_configuration,
    VirtualDeviceConfiguration=LogicalDeviceConfiguration,
    run_functions_eagerly=run_functions_eagerly,
)
experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly

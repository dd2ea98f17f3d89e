"""What this driver says of itself, its runtime and its workloads."""

import gc
import multiprocessing
import platform
import sys
import sysconfig
import time

from answer import VERSION, unit_of
from request import AXES

QUANTITIES = {
    "call_returns_ns": ("call_returns", "until the call returns in the parent"),
    "task_runs_ns": ("task_runs", "until the first instruction of the new task's own code"),
    "image_entered_ns": (
        "image_entered",
        "until the entry of the new program's file, before its C library has set itself up",
    ),
    "image_runs_ns": ("image_runs", "until the first line of the new program's main"),
    "image_ends_ns": ("image_ends", "until the last line of the new program's main"),
    "reaped_ns": ("reaped", "until wait or join has returned"),
    "result_ns": ("result", "until the caller has the result"),
    "loop_blocked_ns": (None, "from before the call until the event loop has run another callback that was due"),
    "lock_wait_ns": (
        None,
        "how much later than due the new task runs again after a sleep of 1 ms, for which it gives the runtime's lock "
        "up; null without busy threads",
    ),
    "collector_ns": (None, "pauses of the garbage collector within the launch, as the runtime says"),
}
_DETAILS = {"image_entered_ns", "image_ends_ns", "collector_ns"}


def describe(name, workloads):
    return {
        "driver": {
            "name": name,
            "version": VERSION,
            "language": "Python",
            "linkage": None,
            "protocol": 1,
            "clocks": ["monotonic"],
            "clock_now_ns": time.monotonic_ns(),
            "runtime": _runtime(),
        },
        "axes": {axis: _axis(*entry) for axis, entry in AXES.items()},
        "quantities": {quantity: _quantity(quantity, *entry) for quantity, entry in QUANTITIES.items()},
        "workloads": [_workload(workload) for workload in workloads.values()],
        "lacks": [],
    }


def _runtime():
    return {
        "name": platform.python_implementation(),
        "version": platform.python_version(),
        "build": " ".join(sys.version.split()),
        "flags": sys.orig_argv[1:-3] if hasattr(sys, "orig_argv") else [],
        "clock": "time.monotonic_ns: " + time.get_clock_info("monotonic").implementation,
        "collector": "reference counts; cycles by thresholds %s" % (gc.get_threshold(),),
        "start_method": multiprocessing.get_start_method(),
        "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "gil": "on" if getattr(sys, "_is_gil_enabled", lambda: True)() else "off",
        "switch_interval_ns": round(sys.getswitchinterval() * 1e9),
    }


def _axis(kind, default, summary):
    if kind == "choice":
        return {"type": kind, "default": default[0], "values": list(default), "summary": summary}
    axis = {"type": kind, "default": default, "summary": summary}
    return axis if kind == "text" else {**axis, "minimum": default}


def _quantity(name, stage, summary):
    quantity = {"unit": unit_of(name), "stage": stage, "summary": summary, "signed": False, "detail": name in _DETAILS}
    return {**quantity, "point": "main"} if name == "image_runs_ns" else quantity


def _workload(workload):
    return {
        "id": workload.id,
        "family": workload.family,
        "summary": workload.summary,
        "axes": list(workload.axes),
        "temperatures": ["cold", "warm"],
        "quantities": [*(stage for stage in workload.stages if stage not in workload.nulls), "collector_ns"],
        "nulls": workload.nulls,
        "call_returns_contains": workload.call_returns_contains,
        "available": workload.reason is None,
        "reason": workload.reason,
        "api": workload.api,
        "launch_path": workload.launch_path,
    }

"""All workloads by their ids: the name of the driver, a dot, and what is wanted."""

import calls
import commands
import exchanges
import floor
import interpreters
import threads


class Workload:
    """What is wanted, how Python does it, and how one launch is made.

    ``prepare(request)`` returns two functions: one launches and returns when it began and its stages, in ns of the
    clock, None for a stage that there is not; the other one tidies up. ``api`` is what is called, ``launch_path`` the
    line of the book of launch paths that it is. ``reason`` says why it cannot be had here.
    """

    def __init__(
        self,
        family,
        summary,
        stages,
        prepare,
        axes=(),
        nulls=None,
        contains=None,
        api="",
        launch_path=None,
        reason=None,
    ):
        self.id = ""
        self.family = family
        self.summary = summary
        self.stages = stages
        self.prepare = prepare
        self.axes = ("placement", "parent_bytes", *axes)
        self.nulls = nulls or {}
        self.call_returns_contains = contains
        self.api = api
        self.launch_path = launch_path
        self.reason = reason


def all_workloads(name):
    workloads = {}
    for module in (threads, calls, interpreters, commands, exchanges, floor):
        for word, workload in module.workloads(Workload).items():
            workload.id = "%s.%s" % (name, word)
            workloads[workload.id] = workload
    return workloads

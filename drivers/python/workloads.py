"""All workloads by their ids: the name of the driver, a dot, and what is wanted."""

from importlib import import_module

#: Those that import little stand last, where one that is wanted is looked for first.
_MODULES = ("threads", "calls", "interpreters", "commands", "exchanges", "floor", "connections", "forks")


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


def all_workloads(name, wanted=None):
    """All workloads by their ids, or those until the ``wanted`` one: more is not imported, since a fork copies it."""
    workloads = {}
    for module in map(import_module, reversed(_MODULES) if wanted else _MODULES):
        for word, workload in module.workloads(Workload).items():
            workload.id = "%s.%s" % (name, word)
            workloads[workload.id] = workload
        if wanted in workloads:
            break
    return workloads

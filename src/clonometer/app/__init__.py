"""What each command does, without a command line: one module a command, typed arguments in and a record out.

Nothing here prints: whoever waits hands in a `clonometer.runner.interfaces.Progress`.
"""

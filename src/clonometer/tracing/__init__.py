"""Why a launch costs what it costs, from the kernel's own events, and which tasks a program really creates.

Pure but for what it is handed in: a tracer that starts launches (`source.Tracer`).
"""

"""The book of launch paths: for each API and option of a runtime, what the kernel sees, why, and what to write instead.

It is data: a file a runtime in ``book/``. ``observations.json`` has what was seen of it, with the versions that ran.
"""

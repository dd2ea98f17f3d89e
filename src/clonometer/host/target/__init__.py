"""Reading a live process: its memory areas, its standing and what could refuse it a child; nothing is written."""

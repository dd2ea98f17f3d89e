"""Reading a live process: its memory areas, its status and what could refuse it a child; nothing is written."""

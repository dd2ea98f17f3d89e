"""How often the intervals contain the truth, simulated with the functions that answer: `make coverage`."""

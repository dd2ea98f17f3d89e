"""Which tasks a program makes, how, and what they cost it."""

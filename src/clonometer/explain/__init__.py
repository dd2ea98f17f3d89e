"""Why a launch costs what it costs, and which tasks a program really makes."""

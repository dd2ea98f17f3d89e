"""What commands and functions take where nothing else is asked for; shares."""

#: The least change that a verdict is about: smaller ones are of no account.
LEAST_EFFECT = 0.02
#: The largest slow-down that a gate allows.
MOST_REGRESSION = 0.05

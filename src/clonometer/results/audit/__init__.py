"""What of a machine will distort its numbers: host facts to judged items, without asking the machine anything."""

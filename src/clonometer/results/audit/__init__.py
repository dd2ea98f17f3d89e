"""What of a machine will move its numbers: host facts to judged items, without asking the machine anything."""

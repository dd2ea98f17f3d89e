"""The commands, a module or a package each, which has the command's name: `clonometer.cli.group` finds them here."""

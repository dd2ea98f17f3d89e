"""The version, on the ground floor: whoever is below the package root may import it from here."""

__version__ = "0.1.0"

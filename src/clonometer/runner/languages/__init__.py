"""Drivers in languages: which toolchains are here, and what is built with them from the sources that come with us."""

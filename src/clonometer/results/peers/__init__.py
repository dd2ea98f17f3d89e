"""Clonometer beside its peers."""

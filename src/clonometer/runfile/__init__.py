"""Runfile."""

"""Findings: plain sentences computed from the results, each with the numbers it rests on."""

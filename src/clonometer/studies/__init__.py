"""The four published studies: what they found, measured again here, judged and reconciled.

Nothing here measures by itself: plans are ordinary plans, and whoever runs them hands in the results.
"""

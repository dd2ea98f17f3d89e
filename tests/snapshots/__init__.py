"""What users see of fixed inputs, kept in git: a change of wording, layout or JSON is read in its diff.

``make golden`` writes the files; ``test_snapshots.py`` says which of them the code would now write otherwise.
"""

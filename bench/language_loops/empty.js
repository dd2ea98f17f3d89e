// What a Worker that is timed runs: nothing.

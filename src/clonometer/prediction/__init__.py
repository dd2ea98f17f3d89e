"""What a fork would cost one live process: its reading turned into counts, judged by the model of this machine."""

"""What each worker of a program of workers did."""

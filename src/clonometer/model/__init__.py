"""What fork and its kin cost any process of this machine: calibrated by measurements, predicted from counts."""

"""Cases: runs cases under plans, judges their observations, and gives the records."""

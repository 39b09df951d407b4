"""Neural networks: references of windows, normalisations, losses and recurrent cells."""

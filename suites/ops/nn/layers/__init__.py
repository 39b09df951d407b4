"""Activations, normalisations, losses and recurrent cells."""

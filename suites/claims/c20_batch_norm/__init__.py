"""The updates of batch normalisation."""

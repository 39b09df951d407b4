"""Neural networks: what convolutions, pooling, normalisations and recurrent cells share."""

"""Random numbers: generators of random bits, and the numbers that ops make of the bits."""

"""SGAN with its messengers: copies of the local discriminators that learn the samples of the global generator."""

"""Random numbers: ops whose numbers are promised bit for bit or by their distribution."""

"""Other libraries' spellings over the same machinery."""

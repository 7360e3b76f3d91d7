"""The campaign against the package's claims: hostile cases, judged in 60 digits."""

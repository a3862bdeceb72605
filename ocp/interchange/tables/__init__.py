"""Tables over time: .mot, .sto, .trc, .csv."""

"""Dynamic models: regressor, energy, direct model, closed-loop simulation."""

"""Estimators: least squares, weighted, Huber, energy model, essential parameters."""

"""Rows of regressor and efforts, folded into triangular factors."""

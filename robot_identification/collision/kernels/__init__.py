"""Compiled lower bounds of distances over ranges of joint positions."""

"""Figures for people; needs the optional extra ``report``."""

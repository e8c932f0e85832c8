"""Judgement of recordings before anything is fitted to them."""

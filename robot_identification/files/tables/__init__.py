"""Tables of text (CSV): their columns, their numbers, and the samples in them."""

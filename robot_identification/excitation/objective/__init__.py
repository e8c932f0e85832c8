"""The objective of the search: criterion, observation matrix, penalties."""

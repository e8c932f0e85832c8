"""What the search minimises: criterion, observation matrix, penalties."""

"""One module for each row of the goals: what is measured, of ours and of its peers."""

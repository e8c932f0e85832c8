"""Parts that several nodes have: parameters, jobs, subscriptions, quality of service."""

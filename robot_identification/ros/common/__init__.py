"""What the nodes share: parameters, jobs, subscriptions, quality of service."""

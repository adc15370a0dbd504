"""What runs as a job: the keepers of training ranks and of servers."""

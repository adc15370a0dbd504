"""What a call costs: prices by provider, their draw for an episode, usage turned into dollars."""

"""Who speaks for the user of a domain's task: nobody, a script, or a model."""

"""The folders of `experiments/`: what each claims, runs and shows, as data."""

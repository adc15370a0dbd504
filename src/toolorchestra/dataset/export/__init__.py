"""A domain's tasks in the forms that others read."""

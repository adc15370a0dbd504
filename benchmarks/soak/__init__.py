"""A sweep on the development cluster under random faults: what is lost?"""

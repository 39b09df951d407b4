"""Recipes: the inputs that ops of several families share."""

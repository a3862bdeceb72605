"""Hops and steps of legged mechanisms, with contacts scheduled or found."""

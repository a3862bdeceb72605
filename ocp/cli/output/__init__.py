"""Printed output and saved files of commands."""

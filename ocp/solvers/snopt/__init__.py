"""SNOPT by Drake's wheel."""

"""The statement of an optimal motion: what is asked, and nothing about how it is computed."""

"""The book of documentation: pages, reference, gallery."""

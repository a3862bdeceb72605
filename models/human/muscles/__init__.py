"""Bodies that muscles move."""

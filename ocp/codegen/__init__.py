"""Machine code for CasADi graphs; nothing here knows of mechanics."""

"""Transcription of phases, impacts and contact handover."""

"""Motions of arms: least time and effort, springs, flexible links, throws, picks."""

"""The version of the package, its only home."""

VERSION = "0.1.0"

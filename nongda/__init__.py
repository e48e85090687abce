"""农答 (NongDa): documents in, short cited answers out, offline."""

__version__ = "0.1.0"

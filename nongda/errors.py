"""Every error a reader can meet.

NongDaError
├── UsageError        the question or the command was not usable (exit 2)
├── SettingsError     a settings or data file has an unknown key or a bad value
├── DocumentError     one file could not be read, parsed or added
├── StoreError        the data folder cannot be opened, written or understood
├── WeightsError      a model file is missing, damaged or could not be fetched
└── GenerationError   the language model failed while writing

Each message is one plain Chinese sentence: what happened, to which file or id, and what to do next.
"""


class NongDaError(Exception):
    """Base of all errors with a message meant for the reader."""


class UsageError(NongDaError):
    """The question or the command was not usable."""


class SettingsError(NongDaError):
    """A settings or data file holds an unknown key or a bad value."""


class DocumentError(NongDaError):
    """One document could not be read, parsed or added; the others are not concerned."""


class StoreError(NongDaError):
    """The data folder cannot be opened, written or understood."""


class WeightsError(NongDaError):
    """A model file is missing, damaged or could not be fetched."""


class GenerationError(NongDaError):
    """The language model failed while writing an answer."""

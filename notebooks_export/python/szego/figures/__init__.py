"""Figures of results: records (one module a subject), what they are composed to, and how that is drawn."""

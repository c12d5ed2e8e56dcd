"""Reports of experiments: one result object, as JSON, text, tables, figures and one HTML page."""

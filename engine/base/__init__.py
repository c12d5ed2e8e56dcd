"""Ground: errors, numbers, times, threads, tables and files; nothing here knows of memory."""

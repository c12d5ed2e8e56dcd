"""One life asked as several: what only experiments ask of a memory."""

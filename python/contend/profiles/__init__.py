"""Machine profiles and library presets: the files, their values, and where these come from."""

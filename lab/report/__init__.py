"""What results look like: tables in the terminal, plots, one HTML page, several side by side."""

"""What a run of the laboratory leaves: tables, and what they are about; saved as a folder."""

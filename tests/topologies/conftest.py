"""Its presence lets the tests in the folders below import the modules they share from here."""

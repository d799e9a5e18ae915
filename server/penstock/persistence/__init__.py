"""Tables, transactions, migrations."""

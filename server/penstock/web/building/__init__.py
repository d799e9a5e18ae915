"""What an admin builds by form: queries of each kind and streams, and what they would cost."""

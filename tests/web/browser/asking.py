"""Define what an analyst asks for in Chromium."""

ASK = "Get results"

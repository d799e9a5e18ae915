"""Define what an analyst asks for in Chromium."""

ASK = "Request at my clearance"

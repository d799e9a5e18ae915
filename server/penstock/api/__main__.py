"""Write the OpenAPI document to standard output."""

import sys

from penstock.api.openapi import text

sys.stdout.write(text())

#!/bin/sh
# Make Penstock's two roles and its database, when PostgreSQL's container starts for the first time.
#
# penstock_owner owns the tables and upgrades them; penstock is the server's, and may not change history.
set -eu
secrets=${SECRETS:-/run/secrets}
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres \
  --set owner="$(cat "$secrets/owner_password")" \
  --set server="$(cat "$secrets/server_password")" << 'SQL'
CREATE ROLE penstock_owner LOGIN PASSWORD :'owner';
CREATE ROLE penstock LOGIN PASSWORD :'server';
CREATE DATABASE penstock OWNER penstock_owner ENCODING 'UTF8' TEMPLATE template0;
REVOKE ALL ON DATABASE penstock FROM PUBLIC;
GRANT CONNECT ON DATABASE penstock TO penstock;
SQL

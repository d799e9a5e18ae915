#!/bin/bash
# Start Keycloak with the passwords of secrets/, which it reads from its environment alone.
#
# The realm is made from realm.json when there is none; afterwards the database has it.
set -eu
secrets=${SECRETS:-/run/secrets}
KC_DB_PASSWORD=$(< "$secrets/login_database_password")
KC_BOOTSTRAP_ADMIN_PASSWORD=$(< "$secrets/login_admin_password")
LOGIN_CLIENT_SECRET=$(< "$secrets/login_client_secret")
export KC_DB_PASSWORD KC_BOOTSTRAP_ADMIN_PASSWORD LOGIN_CLIENT_SECRET
exec "${KEYCLOAK:-/opt/keycloak/bin/kc.sh}" start --import-realm

#!/bin/sh
# Make the passwords and addresses that compose.yaml reads, once, in the folder secrets beside it.
#
# The folder is for its owner alone.  The files in it can be read by anybody who gets there, because
# containers see them with their mode of this machine, under accounts of their own.
set -eu
folder=${1:-$(dirname "$0")/../secrets}
if [ -e "$folder" ]; then
  echo "$folder exists already; nothing was changed." >&2
  exit 1
fi
umask 077
mkdir -p "$folder"
for name in superuser_password owner_password server_password metrics_token; do
  openssl rand -hex 32 > "$folder/$name"
done
host=${DATABASE_HOST:-database:5432}
printf 'postgresql://penstock:%s@%s/penstock\n' "$(cat "$folder/server_password")" "$host" \
  > "$folder/database_url"
printf 'postgresql://penstock_owner:%s@%s/penstock\n' "$(cat "$folder/owner_password")" "$host" \
  > "$folder/migration_database_url"
chmod 0444 "$folder"/*

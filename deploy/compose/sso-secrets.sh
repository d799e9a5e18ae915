#!/bin/sh
# Make the passwords that sso.yaml reads besides, once, in the folder that secrets.sh made.
set -eu
folder=${1:-$(dirname "$0")/../secrets}
if [ ! -d "$folder" ]; then
  echo "$folder does not exist: run secrets.sh first." >&2
  exit 1
fi
if [ -e "$folder/login_client_secret" ]; then
  echo "$folder has these passwords already; nothing was changed." >&2
  exit 1
fi
umask 077
for name in login_admin_password login_database_password login_client_secret; do
  openssl rand -hex 32 > "$folder/$name"
  chmod 0444 "$folder/$name"
done

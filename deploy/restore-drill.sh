#!/usr/bin/env bash
# Rehearse losing the database: replace it by a backup, see that the server notices, and continue
# after the restore is acknowledged.
#
#   deploy/restore-drill.sh BACKUP
#
# It works on the home that the environment names (PENSTOCK_HOME and the others), and REPLACES
# its database by BACKUP: run it on a copy of a home, or in an actual loss.  The server must be
# stopped.  On PostgreSQL the database must be empty or new.
set -euo pipefail
backup=${1:?"usage: $0 BACKUP"}
home=${PENSTOCK_HOME:-penstock-home}

echo "0. Check that the present keys open the backup, before anything is changed." >&2
penstock backup check "$backup" >&2

echo "1. Replace the database by the backup." >&2
if [ -n "${PENSTOCK_DATABASE_URL:-}" ]; then
  owner=${PENSTOCK_MIGRATION_DATABASE_URL:-$PENSTOCK_DATABASE_URL}
  pg_restore --no-owner --no-privileges --exit-on-error --dbname="$owner" "$backup"
else
  database=${PENSTOCK_DATABASE_FOLDER:-$home/database}
  rm -f "$database/penstock.db-wal" "$database/penstock.db-shm"
  install -m 600 "$backup" "$database/penstock.db"
fi
penstock db upgrade >&2

echo "2. Check whether the witness saw more than the backup contains." >&2
if penstock status >&2; then
  echo "The backup contains everything that the witness saw: nothing is lost." >&2
  exit 0
fi

echo "3. Acknowledge the restore: older queries draw no new releases, and budgets stay spent." >&2
penstock audit acknowledge-restore

echo "4. Check everything that is stored against the log." >&2
penstock audit verify

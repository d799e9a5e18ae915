#!/usr/bin/env bash
# A drill of the worst day: back up the database of a home, lose it, put the backup back, and
# see that the server notices, serves what was handed out, and goes on once that is acknowledged.
#
#   deploy/restore-drill.sh BACKUP
#
# It works on the home that the environment names (PENSTOCK_HOME and the others), whose
# database it REPLACES by BACKUP: run it on a copy of a home, or on the day itself.  The
# server must be stopped.  On PostgreSQL the database must be empty, or a new one.
set -euo pipefail
backup=${1:?"usage: $0 BACKUP"}
home=${PENSTOCK_HOME:-penstock-home}

echo "0. See whether today's keys open the backup, before anything is touched." >&2
penstock backup check "$backup" >&2

echo "1. Put the backup in the database's place." >&2
if [ -n "${PENSTOCK_DATABASE_URL:-}" ]; then
  owner=${PENSTOCK_MIGRATION_DATABASE_URL:-$PENSTOCK_DATABASE_URL}
  pg_restore --no-owner --no-privileges --exit-on-error --dbname="$owner" "$backup"
else
  database=${PENSTOCK_DATABASE_FOLDER:-$home/database}
  rm -f "$database/penstock.db-wal" "$database/penstock.db-shm"
  install -m 600 "$backup" "$database/penstock.db"
fi
penstock db upgrade >&2

echo "2. See whether the witness saw more than the backup holds." >&2
if penstock status >&2; then
  echo "The backup holds all that the witness saw: nothing is lost." >&2
  exit 0
fi

echo "3. Acknowledge it: older queries draw nothing more, budgets stay spent." >&2
penstock audit acknowledge-restore

echo "4. Hold all that is stored to the log." >&2
penstock audit verify

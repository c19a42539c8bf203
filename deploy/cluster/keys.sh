#!/bin/sh
# Makes the keys that all nodes have in common, and puts them into the data folder of each node:
#
#   keys.sh FOLDER …
#
# A key that the first folder has stays as it is. No key of another folder is replaced by a
# different one: its node has data that only this key opens.
set -eu

first=$1
umask 077
for name in token_key event_key network_key; do
  if [ ! -e "$first/$name" ]; then
    od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n' >"$first/$name.new"
    mv "$first/$name.new" "$first/$name"
  fi
  for folder in "$@"; do
    if [ ! -e "$folder/$name" ]; then
      cp "$first/$name" "$folder/$name.new"
      mv "$folder/$name.new" "$folder/$name"
    elif ! cmp -s "$first/$name" "$folder/$name"; then
      echo "$folder/$name differs from $first/$name: copy the one that your data needs" >&2
      exit 1
    fi
  done
done

for folder in "$@"; do
  chmod 700 "$folder"
  # The nodes run as this user.
  if [ -n "${OWNER:-}" ]; then chown -R "$OWNER" "$folder"; fi
done

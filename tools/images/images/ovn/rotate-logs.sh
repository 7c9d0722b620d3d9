#!/bin/bash
# rotate-logs.sh FILE...: puts aside those logs of Open vSwitch and OVN that have become too large, as FILE.1.gz, …
#
# LOG_MAX_BYTES   of a file; 100 MiB
# LOG_OLD_FILES   how many are kept of each, compressed; 7
set -euo pipefail

max_bytes=${LOG_MAX_BYTES:-104857600}
old_files=${LOG_OLD_FILES:-7}

# reopen FILE: makes the daemon that writes it do so in a new one.
reopen() {
  case $1 in
    */ovsdb-server-[ns]b.log)
      local db=${1##*-}
      ovn-appctl --timeout=10 -t "/run/ovn/ovn${db%.log}_db.ctl" vlog/reopen
      ;;
    /var/log/ovn/*) ovn-appctl --timeout=10 -t "$(basename "$1" .log)" vlog/reopen ;;
    *) ovs-appctl --timeout=10 -t "$(basename "$1" .log)" vlog/reopen ;;
  esac
}

# rotate FILE: FILE.1 is only there while it is compressed, or when that was interrupted.
rotate() {
  local number
  if [[ -e $1.1 ]]; then
    gzip --force "$1.1"
  fi
  for ((number = old_files - 1; number >= 1; number--)); do
    if [[ -e $1.$number.gz ]]; then
      mv "$1.$number.gz" "$1.$((number + 1)).gz"
    fi
  done
  mv "$1" "$1.1"
  if reopen "$1" >/dev/null; then
    nice gzip --force "$1.1"
  else
    # Who writes it does not answer, and goes on writing it: it is tried again.
    mv "$1.1" "$1"
  fi
}

# The containers of an upgrade overlap, and have the same files.
exec {lock}<"$(dirname "$1")"
flock "$lock"
for file in "$@"; do
  if [[ -e $file ]] && (($(stat --format %s "$file") > max_bytes)); then
    rotate "$file"
  fi
done

# Waiting for daemons that another process supervises. Sourced.
# shellcheck shell=bash

# watch_daemon PIDFILE: ends when the daemon is gone for good. Its monitor, the parent, starts it again after a crash.
watch_daemon() {
  local pid monitor
  pid=$(cat "$1")
  monitor=$(awk '/^PPid:/ { print $2 }' "/proc/$pid/status")
  # One that was started without a monitor has another parent.
  if [[ $(cat "/proc/$monitor/comm") != monitor ]]; then
    monitor=$pid
  fi
  tail --pid="$monitor" --follow /dev/null
}

# until_daemon_ends PIDFILE...: until the first of them is gone for good.
until_daemon_ends() {
  local file watchers=()
  for file in "$@"; do
    watch_daemon "$file" &
    watchers+=($!)
  done
  wait -n "${watchers[@]}"
}

# show_logs FILE...: what is written from now on becomes the log of the container. What goes by tells when a file may have
# become too large: each time it is a tenth of that more, rotate-logs.sh looks.
show_logs() {
  bash /kube-ovn/rotate-logs.sh "$@" || true
  tail --lines=0 --follow=name --retry --quiet "$@" |
    awk -W interactive -v files="$*" -v step="$((${LOG_MAX_BYTES:-104857600} / 10))" '
      { print; fflush(); bytes += length($0) + 1 }
      bytes > step { bytes = 0; system("bash /kube-ovn/rotate-logs.sh " files) }' &
}

/** A program that a machine of the lab keeps running. */
export interface Daemon {
  readonly name: string
  readonly command: readonly string[]
}

/** Quotes a word so that a shell takes it literally. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** While a file of a daemon's name is in this directory of its machine, the daemon is not started again. */
export const holdDirectory = '/run/lab-hold'

/**
 * Renders what a machine of the lab runs as its first process: some preparation, then its daemons, each with a log of its own in
 * /var/log/lab and started again when it ends, unless it is held.
 */
export function renderMachineScript(preparation: readonly string[], daemons: readonly Daemon[]): string {
  return [
    '#!/bin/sh',
    'set -e',
    ...preparation,
    'keep() {',
    '  name=$1; shift',
    '  while :; do',
    `    [ -e "${holdDirectory}/$name" ] || "$@" >> "/var/log/lab/$name.log" 2>&1 || true`,
    '    sleep 0.2',
    '  done',
    '}',
    ...daemons.map(({ name, command }) => `keep ${[name, ...command].map(quote).join(' ')} &`),
    'wait',
    '',
  ].join('\n')
}

/**
 * Makes a container that was not started with `--privileged` fit for containers inside it: Docker mounts /proc/sys, /sys and every
 * cgroup hierarchy read-only, and nothing shared.
 */
export const containerPreparation: readonly string[] = [
  // As on a real machine, what is in /run does not outlive a reboot.
  'mount -t tmpfs -o mode=755,size=256m tmpfs /run',
  `mkdir -p /run/lock ${holdDirectory}`,
  'mount --make-rshared /',
  'mount -o remount,rw /proc/sys',
  'mount -o remount,rw /sys',
  'for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/*; do',
  '  if mountpoint -q "$hierarchy"; then mount -o remount,bind,rw "$hierarchy" || true; fi',
  'done',
  // Docker's resolver would pass questions on to the host's.
  'echo "options ndots:1" > /etc/resolv.conf',
]

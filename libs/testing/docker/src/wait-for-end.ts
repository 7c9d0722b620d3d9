/**
 * Shell command that ends when the process `$pid` of the same container has ended, with all that it held: files, locks, sockets.
 *
 * Nobody collects the exit status of a daemon in a container, so it stays a zombie. Its first thread may be one already while
 * others are still on their way out, and hold what the process held.
 */
export const waitForEnd =
  'while kill -0 $pid 2>/dev/null && ! { grep -q "^State:.Z" /proc/$pid/status && [ "$(ls /proc/$pid/task | wc -l)" = 1 ]; }; do sleep 0.01; done'

const repairs = new Set<() => Promise<void>>()
const signals = ['SIGINT', 'SIGTERM'] as const

/**
 * Has something repaired before this process follows a signal to end.
 *
 * @returns what makes it forget again
 */
export function repairOnSignal(repair: () => Promise<void>): () => void {
  if (repairs.size === 0) for (const signal of signals) process.on(signal, onSignal)
  repairs.add(repair)
  return () => {
    repairs.delete(repair)
    if (repairs.size === 0) for (const signal of signals) process.off(signal, onSignal)
  }
}

/** Newest first; then the signal does what it would have done. */
function onSignal(signal: NodeJS.Signals): void {
  void (async () => {
    for (const repair of [...repairs].reverse()) await repair().catch(() => undefined)
    for (const each of signals) process.off(each, onSignal)
    process.kill(process.pid, signal)
  })()
}

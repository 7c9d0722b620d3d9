/** What is resident, before and after, in bytes. */
export interface GivenBack {
  readonly before: number
  readonly after: number
}

/**
 * Collects all garbage and gives what is free to the kernel. By itself V8 keeps what a start has taken: twice what is in use, in pages of
 * which each still has something.
 *
 * Nothing else happens meanwhile, for some milliseconds for each MiB in use: it is for when nothing is left to do.
 *
 * @returns nothing without Node's option `--expose-gc`, where nothing is done either
 */
export function giveHeapBack(): GivenBack | undefined {
  if (globalThis.gc === undefined) return undefined
  const before = process.memoryUsage.rss()
  globalThis.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  return { before, after: process.memoryUsage.rss() }
}

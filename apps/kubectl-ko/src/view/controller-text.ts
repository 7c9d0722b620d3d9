import type { StatusView } from './status-view.ts'

/** What waits for the controller, and what others changed behind its back. */
export function controllerText({ controller }: Pick<StatusView, 'controller'>): string {
  if (controller === undefined) return 'queue and drift: the controller was not asked, or did not answer'
  const { queued, inWork, longestSeconds, drift } = controller
  const long = longestSeconds < 1 ? '' : `, one for ${longestSeconds.toFixed(0)}s`
  const changed = drift.reduce((sum, { found }) => sum + found, 0)
  const by = drift.slice(0, 3).map(({ feature, found }) => `${feature} ${found}`)
  const more = drift.length > by.length ? ', …' : ''
  return `queue: ${queued} waiting, ${inWork} in work${long}; drift put right since it started: ${
    changed === 0 ? 'none' : `${changed} (${by.join(', ')}${more})`
  }`
}

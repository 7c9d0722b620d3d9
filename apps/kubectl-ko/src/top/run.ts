import type { Cluster } from '../cluster.ts'
import { LiveFacts } from './live-facts.ts'
import { TopScreen, type Terminal } from './top-screen.ts'

/** Changes within this time are shown at once. */
const frameMs = 200
/** Ages go on, and leases run out, also where nothing changes. */
const idleMs = 5000

/** Shows the state until the user ends it, anew whenever something changes. */
export async function runTop(cluster: Cluster, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const ended = new AbortController()
  const until = AbortSignal.any([signal, ended.signal])
  let isReady = false
  let timer: NodeJS.Timeout | undefined
  function changed(): void {
    if (!isReady) return
    timer ??= setTimeout(() => {
      timer = undefined
      screen.refresh()
    }, frameMs)
  }
  await using live = new LiveFacts(cluster, changed)
  using screen = new TopScreen(() => live.facts, terminal)
  until.addEventListener('abort', () => screen[Symbol.dispose](), { once: true })
  let asked: Promise<void> | undefined
  const idle = setInterval(() => {
    changed()
    asked ??= live
      .refresh()
      .then(changed, () => undefined)
      .finally(() => (asked = undefined))
  }, idleMs)
  try {
    await Promise.race([live.start(until), screen.ended])
    isReady = true
    screen.refresh()
    await screen.ended
  } finally {
    clearInterval(idle)
    clearTimeout(timer)
    ended.abort()
  }
}

import { render } from 'ink'
import { createElement } from 'react'
import type { Cluster } from '../cluster.ts'
import { statusView, type StatusView } from '../view/status-view.ts'
import { LiveFacts } from './live-facts.ts'
import { TopView } from './top-view.ts'

/** Changes within this time are shown at once. */
const frameMs = 200
/** Ages go on, and leases run out, also where nothing changes. */
const idleMs = 5000

/** Shows the state until the user ends it, anew whenever something changes. */
export async function runTop(
  cluster: Cluster,
  terminal: { readonly stdout: NodeJS.WriteStream; readonly stdin: NodeJS.ReadStream },
  signal: AbortSignal,
): Promise<void> {
  const ended = new AbortController()
  const until = AbortSignal.any([signal, ended.signal])
  const listeners = new Set<() => void>()
  let view: StatusView | undefined
  let isReady = false
  let timer: NodeJS.Timeout | undefined
  function refresh(): void {
    timer = undefined
    view = statusView(live.facts, Date.now())
    for (const listener of listeners) listener()
  }
  function changed(): void {
    if (isReady) timer ??= setTimeout(refresh, frameMs)
  }
  await using live = new LiveFacts(cluster, changed)
  const app = render(
    createElement(TopView, {
      live: {
        current: () => view,
        subscribe(listener) {
          listeners.add(listener)
          return () => void listeners.delete(listener)
        },
      },
    }),
    { ...terminal, exitOnCtrlC: true, alternateScreen: true },
  )
  until.addEventListener('abort', () => app.unmount(), { once: true })
  const idle = setInterval(changed, idleMs)
  try {
    await Promise.race([live.start(until), app.waitUntilExit()])
    isReady = true
    refresh()
    await app.waitUntilExit()
  } finally {
    clearInterval(idle)
    clearTimeout(timer)
    ended.abort()
    app.unmount()
  }
}

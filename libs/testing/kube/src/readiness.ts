import { setTimeout as delay } from 'node:timers/promises'
import { KubeConnectionError, KubeRequestError, namespaces, services, type KubeClient } from '@kube-ovn/kube'
import type { Container } from './container.ts'
import { FixtureError } from './errors.ts'
import { PATIENCE_MS } from './patience.ts'

/** How often a server that starts is asked; ms. */
const PERIOD_MS = 20

/** The API server makes default, kube-system, kube-public and kube-node-lease. */
const SYSTEM_NAMESPACES = 4

/** Checks of what an administrator does not need: its own roles and priorities, which it makes a second after it serves. */
const OWN_CONTENTS = [
  'poststarthook/rbac/bootstrap-roles',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
]

/** Waits until an administrator can create objects; the server may still be making what is its own. */
export function untilServing(client: KubeClient, container: Container): Promise<void> {
  const query = OWN_CONTENTS.map((check) => `exclude=${check}`).join('&')
  return until(container, async () => {
    await client.read(`/readyz?${query}`)
    return hasNamespaces(client)
  })
}

/** Waits until the server says that it is ready and has made what each cluster has. */
export function untilReady(client: KubeClient, container: Container): Promise<void> {
  return until(container, async () => {
    await client.read('/readyz')
    const kubernetes = await client.get(services, { namespace: 'default', name: 'kubernetes' })
    return kubernetes !== undefined && hasNamespaces(client)
  })
}

async function hasNamespaces(client: KubeClient): Promise<boolean> {
  return (await client.list(namespaces)).items.length >= SYSTEM_NAMESPACES
}

/** There is no event to wait for. */
async function until(container: Container, holds: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + PATIENCE_MS
  let last: unknown
  while (performance.now() < deadlineMs) {
    try {
      if (await holds()) return
    } catch (error) {
      if (!(error instanceof KubeConnectionError) && !(error instanceof KubeRequestError)) throw error
      last = error
    }
    await delay(PERIOD_MS)
  }
  throw new FixtureError(
    'API server did not become ready',
    { what: 'kube-apiserver', output: await container.logs(), cure: 'read the output' },
    { cause: last },
  )
}

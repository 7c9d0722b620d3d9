import { setTimeout as delay } from 'node:timers/promises'
import type { KubeClient, KubeObject, Resource, WatchEvent, WatchOptions } from '@kube-ovn/kube'
import { startProxy, type Proxy as DatabaseProxy } from '@kube-ovn/testing-ovsdb'

/** Seed of lags: whole number; none when it is not set. */
export const LAG_SEED = 'KUBE_OVN_LAG'

/** Yields milliseconds by which something comes late; most are few. */
export type Lag = () => number

/** Longer than a controller takes for a change. */
const mostMs = 150

/** The same seed gives the same lags. */
export function lagsOf(seed: number): Lag {
  let state = seed >>> 0
  return () => {
    // A linear congruential generator, of Numerical Recipes.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.round((state / 2 ** 32) ** 2 * mostMs)
  }
}

/**
 * A client whose watches lag behind, each by another time, and whose writes take a while. Who relies on it that of objects of two kinds
 * the one that was made first is seen first finds out.
 */
export function laggingClient(client: KubeClient, lag: Lag): KubeClient {
  async function watchStream<T extends KubeObject>(resource: Resource<T>, options?: WatchOptions) {
    return late(await client.watchStream(resource, options), lag())
  }
  return new Proxy(client, {
    get(target, name) {
      if (name === 'watchStream') return watchStream
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const method = value.bind(target) as (...args: readonly unknown[]) => unknown
      if (name !== 'create' && name !== 'patch' && name !== 'remove') return method
      return async (...args: readonly unknown[]) => {
        await delay(lag() / 4)
        return method(...args)
      }
    },
  })
}

/** A way to a database on which answers and changes lag behind, in their order. */
export async function laggingDatabase(address: string, lag: Lag): Promise<DatabaseProxy> {
  const proxy = await startProxy(address)
  proxy.meddle(() => delay(lag() / 4))
  return proxy
}

/** What comes together stays together. */
async function* late<T extends KubeObject>(
  changes: AsyncIterable<WatchEvent<T>>,
  lagMs: number,
): AsyncGenerator<WatchEvent<T>> {
  let lastMs = -Infinity
  for await (const change of changes) {
    if (performance.now() - lastMs > lagMs) await delay(lagMs)
    lastMs = performance.now()
    yield change
  }
}

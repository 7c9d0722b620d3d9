import type { KubeClient, ListOptions } from './client.ts'
import { KubeGoneError } from './errors.ts'
import type { KubeObject, Resource } from './types.ts'

/** All objects of a list, at one state of the server. */
export interface WholeList<T extends KubeObject> {
  readonly items: readonly T[]
  readonly resourceVersion: string
}

/**
 * Reads a list page by page, passing each object through `map` before the next page comes, so that a large list is
 * never in memory untrimmed.
 *
 * No resource version is asked for: the server then answers its newest state, from its own cache, and a restart never
 * goes back in time. When reading takes so long that the server forgets the state it pages through, the list is read
 * again in one piece, which cannot expire.
 */
export async function listAll<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  options: Omit<ListOptions, 'continue' | 'resourceVersion' | 'resourceVersionMatch'>,
  map: (object: T) => T = (object) => object,
): Promise<WholeList<T>> {
  const items: T[] = []
  let token: string | undefined
  for (;;) {
    try {
      const page = await client.list(resource, { ...options, continue: token })
      for (const item of page.items) items.push(map(item))
      token = page.continue
      if (token === undefined) return { items, resourceVersion: page.resourceVersion }
    } catch (error) {
      if (!(error instanceof KubeGoneError) || token === undefined) throw error
      const whole = await client.list(resource, { ...options, limit: undefined })
      return { items: whole.items.map(map), resourceVersion: whole.resourceVersion }
    }
  }
}

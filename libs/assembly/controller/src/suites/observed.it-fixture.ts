import type { KubeObject, Resource } from '@kube-ovn/kube'
import type { ControlCluster } from '@kube-ovn/testing-control'
import { expect } from 'vitest'

interface Told extends KubeObject {
  readonly status?: {
    readonly observedGeneration?: number | undefined
    readonly conditions?:
      | readonly {
          readonly type?: string | undefined
          readonly status?: string | undefined
          readonly observedGeneration?: number | undefined
        }[]
      | undefined
  }
}

export interface Named {
  readonly resource: Resource
  readonly name: string
  readonly namespace?: string
}

/**
 * Whether who waits for an object may go on, as kstatus reads objects of kinds that it does not know.
 *
 * @see https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus
 */
export function kstatus({ metadata, status }: Told): string {
  if (metadata.deletionTimestamp !== undefined) return 'Terminating'
  if (status?.observedGeneration !== metadata.generation) return 'InProgress'
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return ready === undefined || ready.status === 'True' ? 'Current' : 'InProgress'
}

/** Expects that everything in its status is about its present specification, and answers which generation that is. */
export async function expectObserved(
  { client }: ControlCluster,
  { resource, ...ref }: Named,
  expected?: string,
): Promise<number> {
  const object: Told | undefined = await client.get(resource, ref)
  const { name } = ref
  if (object === undefined) throw new TypeError(`there is no ${resource.kind} ${name}`)
  const { generation = 0 } = object.metadata
  expect({ name, about: object.status?.observedGeneration }).toEqual({ name, about: generation })
  for (const { type, observedGeneration } of object.status?.conditions ?? [])
    expect({ name, type, about: observedGeneration }).toEqual({ name, type, about: generation })
  if (expected !== undefined) expect(kstatus(object)).toBe(expected)
  return generation
}

/** Of the controller, but for what it tells by events. */
export async function writesSoFar(cluster: ControlCluster): Promise<readonly string[]> {
  const { writes } = await cluster.costs()
  return writes.filter((write) => !write.endsWith(' events'))
}

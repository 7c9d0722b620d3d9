import { domains, mergeDeclarations, type Watch } from '@kube-ovn/domains-control'
import {
  changingWorld,
  type ChangingWorld,
  type StillObjects,
} from '@kube-ovn/domains-control/testing/still-world'
import { objectKey, type IndexedStore, type KubeObject } from '@kube-ovn/kube'
import { endpointSlices, services } from '@kube-ovn/kube-api/core'
import type { EndpointSlice, Service } from '@kube-ovn/kube-api/core'
import { subnet } from '@kube-ovn/testing-builders'
import { defaultsOf } from '@kube-ovn/process'
import { decide, type Desired } from '@kube-ovn/reconcile'
import { service as feature } from './feature.ts'

const declarations = mergeDeclarations([domains, feature])

/** Services in a world without servers, in which nobody else acts: what each of them wants follows from what is there when it is asked. */
export class StillServices {
  readonly #world: ChangingWorld

  /** @param objects what is there beside Services and slices, and the default Subnet */
  constructor(flags: Readonly<Record<string, unknown>> = {}, objects: StillObjects = {}) {
    const settings = { flags: { ...defaultsOf(declarations.flags), ...flags } }
    const subnets = [subnet({ name: 'ovn-default', cidrBlock: '10.16.0.0/16' }), ...(objects.subnets ?? [])]
    this.#world = changingWorld({ ...objects, subnets }, {}, { declarations, settings })
    this.#world.start()
  }

  /** Has Services be what they are now, as an informer keeps them. */
  put(...all: readonly Service[]): void {
    for (const one of all) this.#change(services, objectKey(one), one)
  }

  putSlices(...all: readonly EndpointSlice[]): void {
    for (const one of all) this.#change(endpointSlices, objectKey(one), one)
  }

  remove(key: string): void {
    this.#change(services, key, undefined)
  }

  wanted(key: string): Desired {
    this.#world.derived.settle()
    return decide(feature, key, this.#world.world).desired
  }

  #change<T extends KubeObject>(resource: Watch<T>['resource'], key: string, object: T | undefined): void {
    const { world, derived } = this.#world
    const { trim } = declarations.watches.find((one) => one.resource.plural === resource.plural) ?? {}
    const current = object && ((trim?.(object) ?? object) as T)
    const store = world.store({ resource }) as IndexedStore<T>
    const old = store.get(key)
    if (current === undefined) store.delete(key)
    else store.put(key, current)
    derived.objectChanged(resource, { key, old, new: current, initial: false })
  }
}

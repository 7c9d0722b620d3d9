import type { Allocated, Feature, Key } from '@kube-ovn/reconcile'
import type { Needs } from './declarations.ts'
import type { AllocatingWorld, ControlWorld } from './world.ts'

/** A feature of the controller, with what it needs. `O` is what is observed, where addresses are taken before it is decided. */
export interface ControlFeature<K extends Key = Key, S = unknown, O = S>
  extends Feature<K, S, ControlWorld, O>, Needs {
  /** The only step in which addresses are taken and given back: by `allocating`. */
  allocate?(key: K, observed: O | undefined, world: AllocatingWorld): Allocated<S>
}

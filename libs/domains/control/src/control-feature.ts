import type { Feature, Key } from '@kube-ovn/reconcile'
import type { Needs } from './declarations.ts'
import type { ControlWorld } from './world.ts'

/** A feature of the controller, with what it needs. */
export interface ControlFeature<K extends Key = Key, S = unknown, W extends ControlWorld = ControlWorld>
  extends Feature<K, S, W>, Needs {}

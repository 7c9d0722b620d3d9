import { controlEffects } from '@kube-ovn/testing-control/effects'
import type { PolicyObjects, PolicyWorld } from './policy-world.ts'
import { policyRows, type PolicyRows } from './rows/policy-rows.ts'

/** What the controller makes of a world: the objects with their addresses, and rows. */
export interface CompiledWorld {
  readonly objects: PolicyObjects
  readonly rows: PolicyRows
}

/** Lets the controller's features decide about a world. */
export function compileWorld({ objects, settings }: PolicyWorld): CompiledWorld {
  const effects = controlEffects({ ...objects }, settings)
  return { objects: { ...objects, ...effects.objects } as PolicyObjects, rows: policyRows(effects.desired) }
}

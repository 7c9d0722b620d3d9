import { ChangingEffects } from '@kube-ovn/testing-control/changing-effects'
import { controlEffects } from '@kube-ovn/testing-control/effects'
import type { PolicyObjects, PolicyWorld } from './policy-world.ts'
import { edited } from './random-edits.ts'
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

/** A world behind some edits. */
export interface EditedWorld {
  readonly before: CompiledWorld
  /** As the controller goes on from what it knows. */
  readonly after: CompiledWorld
  /** As it begins with the same objects. */
  readonly anew: CompiledWorld
}

/** Lets the controller's features decide about a world, and about what somebody makes of it then. */
export function compileEdits({ seed, objects, settings }: PolicyWorld): EditedWorld {
  const effects = new ChangingEffects({ ...objects }, settings)
  const compiled = (): CompiledWorld => ({
    objects: { ...objects, ...effects.objects } as PolicyObjects,
    rows: policyRows(effects.desired),
  })
  const before = compiled()
  effects.change({ ...effects.objects, ...edited(seed, before.objects) })
  const after = compiled()
  return { before, after, anew: compileWorld({ seed, families: [], settings, objects: after.objects }) }
}

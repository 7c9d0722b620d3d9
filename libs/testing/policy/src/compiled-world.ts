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
  /** While pods come, and the controller has not written yet what they have, in worlds that have further networks. */
  readonly meanwhile: readonly CompiledWorld[]
  readonly before: CompiledWorld
  /** As the controller goes on from what it knows. */
  readonly after: CompiledWorld
  /** As it begins with the same objects. */
  readonly anew: CompiledWorld
}

/** Lets the controller's features decide about a world, and about what somebody makes of it then. */
export function compileEdits({ seed, objects, settings }: PolicyWorld): EditedWorld {
  // In the others pods are there from the start, which takes less time.
  const areLate = objects.networkAttachments.length > 0
  const effects = new ChangingEffects({ ...objects, ...(areLate ? { pods: [] } : {}) }, settings)
  const moments = areLate ? effects.change({ ...effects.objects, pods: objects.pods }) : []
  const compiled = (): CompiledWorld => ({
    objects: { ...objects, ...effects.objects } as PolicyObjects,
    rows: policyRows(effects.desired),
  })
  const before = compiled()
  const meanwhile = moments.map((desired) => ({ objects: before.objects, rows: policyRows(desired) }))
  effects.change({ ...effects.objects, ...edited(seed, before.objects) })
  const after = compiled()
  return {
    meanwhile,
    before,
    after,
    anew: compileWorld({ seed, families: [], settings, objects: after.objects }),
  }
}

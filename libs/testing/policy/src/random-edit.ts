import type { PolicyObjects } from './policy-world.ts'
import type { Random } from './random.ts'

/** Something that may be done to a world. */
export type Edit = (objects: PolicyObjects, random: Random) => PolicyObjects

/** What changes the objects of one kind. */
export function editOf<K extends keyof PolicyObjects>(
  kind: K,
  change: (random: Random, list: PolicyObjects[K], objects: PolicyObjects) => PolicyObjects[K],
): Edit {
  return (objects, random) => ({ ...objects, [kind]: change(random, objects[kind], objects) })
}

/** Draws one edit to `most`, and gives the objects behind them. */
export function withEdits(
  random: Random,
  edits: readonly Edit[],
  most: number,
  objects: PolicyObjects,
): PolicyObjects {
  return random
    .some(1, most, () => random.among(edits))
    .reduce((now, edit) => edit?.(now, random) ?? now, objects)
}

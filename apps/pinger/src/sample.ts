import { createHash } from 'node:crypto'

/**
 * Picks those whom one of many asks, so that all together ask everybody, each the same number of times.
 *
 * All stand in a circle, in an order that is everywhere the same and has nothing to do with where they run; each asks those who come next,
 * itself included. Who joins or leaves changes what `size` others ask by one, so their series stay.
 *
 * @param size how many are asked; 0 for all
 * @param nameOf unique, also among those who ask
 */
export function sampleFor<T>(
  own: string,
  all: readonly T[],
  { size, nameOf }: { readonly size: number; readonly nameOf: (one: T) => string },
): readonly T[] {
  if (size <= 0 || all.length <= size) return all
  const circle = all
    .map((one) => ({ one, place: placeOf(nameOf(one)) }))
    .toSorted((a, b) => (a.place < b.place ? -1 : 1))
  const ownPlace = placeOf(own)
  const first = Math.max(
    circle.findIndex(({ place }) => place >= ownPlace),
    0,
  )
  return Array.from({ length: size }, (_, index) => circle[(first + index) % circle.length])
    .filter((item) => item !== undefined)
    .map(({ one }) => one)
}

function placeOf(name: string): string {
  return createHash('sha1').update(name).digest('hex')
}

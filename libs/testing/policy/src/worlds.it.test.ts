import { expect, it } from 'vitest'
import { compareCompiled, differencesOf, openingsOf, type Comparison } from './compare.ts'
import { compileEdits, type CompiledWorld } from './compiled-world.ts'
import type { Packet } from './packet.ts'
import type { PolicyWorld } from './policy-world.ts'
import { randomWorld } from './random-world.ts'
import { drawnSeeds } from './seeds.ts'

const packetsOfWorld = 40

it(
  'lets rows say of packets what the specifications say of objects, in 2,000 worlds before and behind edits',
  { timeout: 1_800_000 },
  () => {
    const counted = { allow: 0, deny: 0, further: { allow: 0, deny: 0 }, named: 0, changed: 0 }
    for (const seed of drawnSeeds(2000)) {
      const world = randomWorld(seed)
      const { meanwhile, before, after, anew } = compileEdits(world)
      // A pod is restricted from its first moment on.
      for (const compiled of meanwhile) expect(openingsOf(world, compiled, 12)).toEqual([])
      // Whoever has followed the edits is where one comes to who begins with what they left.
      expect(rowsOf(after), `seed ${seed}`).toEqual(rowsOf(anew))
      if (JSON.stringify(rowsOf(after)) !== JSON.stringify(rowsOf(before))) counted.changed++
      for (const compiled of [before, after]) {
        const compared = compareCompiled(world, compiled, packetsOfWorld)
        expect(differencesOf(world, compared)).toEqual([])
        for (const { packet, specified } of compared) {
          const which = specified ? 'allow' : 'deny'
          counted[which]++
          if (isOfFurtherNic(packet)) counted.further[which]++
        }
        counted.named += decidedByNames(world, compiled, compared)
      }
    }
    // Worlds in which nothing was decided would agree, too, and edits that change nothing.
    expect(counted.allow).toBeGreaterThan(40_000)
    expect(counted.deny).toBeGreaterThan(40_000)
    expect(counted.further.allow).toBeGreaterThan(5_000)
    expect(counted.further.deny).toBeGreaterThan(2_500)
    expect(counted.named).toBeGreaterThan(500)
    expect(counted.changed).toBeGreaterThan(1_000)
  },
)

/** How many comparisons would have gone otherwise if no name server had answered. */
function decidedByNames(
  world: PolicyWorld,
  { objects, rows }: CompiledWorld,
  compared: readonly Comparison[],
): number {
  if (objects.dnsNameResolvers.length === 0) return 0
  const unanswered = compareCompiled(
    world,
    { objects: { ...objects, dnsNameResolvers: [] }, rows },
    packetsOfWorld,
  )
  return compared.filter(({ specified }, index) => specified !== unanswered[index]?.specified).length
}

function isOfFurtherNic({ from, to }: Packet): boolean {
  return [from, to].some((end) => end.kind === 'pod' && end.provider !== undefined)
}

/** Rows in an order that says nothing. */
function rowsOf({ rows: { switches, groups, sets, ports } }: CompiledWorld) {
  const ordered = (holders: typeof groups) =>
    holders
      .map(({ name, ports: members, acls }) => ({
        name,
        ports: members.toSorted(),
        acls: acls.map((acl) => JSON.stringify(acl)).sort(),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  return {
    ...{ switches: ordered(switches), groups: ordered(groups) },
    sets: [...sets].map(([name, addresses]) => `${name} ${addresses.toSorted().join()}`).sort(),
    ports: [...ports].map(([name, addresses]) => `${name} ${addresses.join()}`).sort(),
  }
}

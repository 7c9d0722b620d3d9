import { expect, it } from 'vitest'
import { compareWorld, differencesOf } from './compare.ts'
import { randomWorld } from './random-world.ts'
import { drawnSeeds } from './seeds.ts'

it(
  'lets rows say of packets what the specifications say of objects, in 2,000 worlds',
  { timeout: 1_800_000 },
  () => {
    const counted = { allow: 0, deny: 0 }
    for (const seed of drawnSeeds(2000)) {
      const world = randomWorld(seed)
      const { compared } = compareWorld(world, 40)
      expect(differencesOf(world, compared)).toEqual([])
      for (const { specified } of compared) counted[specified ? 'allow' : 'deny']++
    }
    // Worlds in which nothing was decided would agree, too.
    expect(counted.allow).toBeGreaterThan(20_000)
    expect(counted.deny).toBeGreaterThan(20_000)
  },
)

import { expect, it } from 'vitest'
import { compareWorld } from './compare.ts'
import { packetText } from './packet.ts'
import { randomWorld } from './random-world.ts'
import { drawnSeeds } from './seeds.ts'
import { Tracer } from './tracer.ts'

const packetsOfWorld = 12

it(
  'lets OVN do with packets what the specifications say, in 200 worlds',
  { timeout: 1_800_000 },
  async () => {
    await using tracer = await Tracer.start()
    const counted = { passed: 0, stopped: 0 }
    for (const seed of drawnSeeds(200)) {
      const world = randomWorld(seed)
      const { compiled, compared } = compareWorld(world, packetsOfWorld)
      const packets = [...new Set(compared.map(({ packet }) => packet))]
      await tracer.write(seed, compiled)
      const passed = {
        'of a new connection': await tracer.passes(seed, compiled, packets, 'new'),
        // What has come to be allowed again goes on, and nothing else.
        'of one that a rule has stopped': await tracer.passes(seed, compiled, packets, 'stopped'),
      }
      const differences = packets.flatMap((packet, index) => {
        const isSpecified = compared.every((one) => one.packet !== packet || one.specified)
        counted[isSpecified ? 'passed' : 'stopped']++
        const told = `seed ${seed}: ${packetText(packet)}: specified ${isSpecified ? 'to pass' : 'not to pass'}`
        return Object.entries(passed)
          .filter(([, have]) => have[index] !== isSpecified)
          .map(([which]) => `${told}, ${which}`)
      })
      expect(differences).toEqual([])
    }
    expect(counted.passed).toBeGreaterThan(500)
    expect(counted.stopped).toBeGreaterThan(500)
  },
)

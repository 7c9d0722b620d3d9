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
      const passed = await tracer.passes(seed, compiled, packets)
      const differences = packets.flatMap((packet, index) => {
        const isSpecified = compared.every((one) => one.packet !== packet || one.specified)
        counted[isSpecified ? 'passed' : 'stopped']++
        if (isSpecified === passed[index]) return []
        return [`seed ${seed}: ${packetText(packet)}: specified ${isSpecified ? 'to pass' : 'not to pass'}`]
      })
      expect(differences).toEqual([])
    }
    expect(counted.passed).toBeGreaterThan(500)
    expect(counted.stopped).toBeGreaterThan(500)
  },
)

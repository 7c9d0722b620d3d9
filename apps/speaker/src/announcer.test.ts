import type { Refused } from '@kube-ovn/errors'
import { recordingLogger } from '@kube-ovn/log'
import { describe, expect, it } from 'vitest'
import { Announcer, type AnnouncerOptions } from './announcer.ts'
import type { Hop } from './own-addresses.ts'
import { own, router } from './speaker-fixture.ts'

const refusal: Refused = { field: 'allowed-source-addresses', value: '192.0.2.99', cure: 'allow 192.0.2.1' }

/** An announcer with one neighbour, and what that was told. */
class World {
  readonly told: (readonly [prefixes: readonly string[], wanted: number, problem: Refused | undefined])[] = []
  readonly log = recordingLogger()
  hop: Hop | undefined = { nextHop: own.ipv4, problem: undefined }
  prefixes: ReadonlySet<string> = new Set(['10.16.0.0/16'])
  readonly announcer: Announcer

  constructor(peers: AnnouncerOptions['peers'] = [neighbor(router.ipv4)]) {
    this.announcer = new Announcer({
      ...{ peers, log: this.log },
      speaker: {
        announce: (_, routes, { wanted = 0, problem } = {}) =>
          this.told.push([[...routes].map(({ prefix }) => prefix), wanted, problem]),
      },
      own: { hopTo: () => this.hop },
      announced: () => ({ prefixes: this.prefixes, problems: [] }),
    })
  }

  get said(): readonly unknown[] {
    return this.log.lines.map(({ level, fields }) => [level, fields])
  }
}

function neighbor(address: string): AnnouncerOptions['peers'][number] {
  return { address, extendedNextHop: false, attributes: {} }
}

describe('a neighbour', () => {
  it('is told nothing from an address that is not allowed, which is said once with its cure', () => {
    const world = new World()
    world.announcer.decide()
    world.hop = { nextHop: undefined, problem: refusal }
    for (let look = 0; look < 3; look++) world.announcer.tell()
    world.prefixes = new Set(['10.16.0.0/16', '10.17.0.0/16'])
    world.announcer.decide()
    world.hop = { nextHop: own.ipv4, problem: undefined }
    world.announcer.tell()
    expect(world.told).toEqual([
      [['10.16.0.0/16'], 1, undefined],
      [[], 1, refusal],
      [[], 2, refusal],
      [['10.16.0.0/16', '10.17.0.0/16'], 2, undefined],
    ])
    expect(world.said).toEqual([
      ['warn', { peer: router.ipv4, ...refusal }],
      ['info', { peer: router.ipv4 }],
    ])
  })

  it('keeps what it knows while there is no way to it', () => {
    const world = new World()
    world.announcer.decide()
    world.hop = undefined
    world.announcer.tell()
    expect(world.told).toEqual([[['10.16.0.0/16'], 1, undefined]])
  })

  it('is to know as much before there has been a way', () => {
    const world = new World()
    world.hop = undefined
    world.announcer.decide()
    expect(world.told).toEqual([[[], 1, undefined]])
    expect(world.said).toEqual([])
  })
})

it('says once which family no neighbour is told', () => {
  const world = new World()
  world.prefixes = new Set(['10.16.0.0/16', 'fd00:10:16::/112'])
  world.announcer.decide()
  world.prefixes = new Set([...world.prefixes, 'fd00:10:17::/112'])
  world.announcer.decide()
  expect(world.said).toEqual([
    ['warn', { field: 'neighbor-ipv6-address', value: 'none, with 1 prefixes', cure: expect.any(String) }],
  ])
  const both = new World([neighbor(router.ipv4), neighbor(router.ipv6)])
  both.prefixes = world.prefixes
  both.announcer.decide()
  expect(both.said).toEqual([])
})

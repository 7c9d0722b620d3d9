import { recordingLogger } from '@kube-ovn/log'
import { ManualClock } from '@kube-ovn/time'
import { describe, expect, it } from 'vitest'
import { RemoteRouter } from './testing/remote-router.ts'
import { identifierProblem, type IdentifiedPeer } from './shared-identifier.ts'
import { BgpSpeaker } from './speaker.ts'

const own = '192.0.2.1'
const first: IdentifiedPeer = { address: '192.0.2.9', as: 65_001, identifier: '192.0.2.9' }

describe('the identifier of a router', () => {
  it.each<[string, readonly IdentifiedPeer[]]>([
    ['is its own', [{ address: '192.0.2.10', as: 65_001, identifier: '192.0.2.10' }]],
    ['may be that of one of another AS', [{ address: '192.0.2.10', as: 65_002, identifier: '192.0.2.9' }]],
    ['is that of its session of the other family', [{ ...first, address: '2001:db8::9' }]],
    [
      'is that of nobody while there is no session',
      [{ ...first, address: '192.0.2.10', identifier: undefined }],
    ],
  ])('%s', (_what, others) => {
    expect(identifierProblem(first, [first, ...others], own)).toBeUndefined()
  })

  it('is told of with those who have it as well', () => {
    const others = ['192.0.2.10', '192.0.2.11'].map((address) => ({ ...first, address }))
    expect(identifierProblem(first, [first, ...others], own)).toEqual({
      ...{ field: 'router-id', value: '192.0.2.9' },
      cure: '192.0.2.10, 192.0.2.11 has it as well: give each router its own, unless they are one',
    })
    expect(identifierProblem(first, [first], '192.0.2.9')).toMatchObject({
      cure: 'this speaker has it as well: give one of the two another',
    })
  })
})

it('of two routers is told of once, at each of them, and keeps neither session from being there', async () => {
  const [clock, log] = [new ManualClock(), recordingLogger()]
  const routers = new Map(
    ['192.0.2.9', '192.0.2.10', '192.0.2.11'].map((address) => [address, new RemoteRouter(65_001)]),
  )
  const changes: string[] = []
  const speaker = new BgpSpeaker(
    {
      ...{ as: 65_000, identifier: own, holdTimeS: 90, listenPort: 179 },
      peers: [...routers.keys()].map((address) => ({
        ...{ address, as: 65_001, port: 179, isPassive: false, ttl: 1 },
        ...{ families: ['ipv4'] as const, extendedNextHop: false },
      })),
    },
    {
      ...{ clock, log, random: () => 0 },
      dial: ({ address }) => Promise.resolve(routers.get(address)?.connection() ?? expect.unreachable()),
      changed: (peer) => changes.push(peer),
    },
  )
  const problems = (): readonly (string | undefined)[] =>
    speaker.statuses.map(({ identifierProblem: problem }) => problem?.cure.split(' has')[0])
  const said = (): readonly unknown[] =>
    log.lines
      .filter(({ message }) => message === 'identifier of a BGP peer is not its own')
      .map(({ fields }) => fields['peer'])
  await speaker.start()
  for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  for (const [address, router] of routers) {
    router.open({ identifier: address === '192.0.2.10' ? '192.0.2.9' : address })
    router.say({ type: 'keepalive' })
  }
  expect(speaker.statuses.map(({ state }) => state)).toEqual(['established', 'established', 'established'])
  expect(problems()).toEqual(['192.0.2.10', '192.0.2.9', undefined])
  expect(said().toSorted()).toEqual(['192.0.2.10', '192.0.2.9'])
  changes.length = 0
  routers.get('192.0.2.10')?.cut()
  expect(problems()).toEqual([undefined, undefined, undefined])
  // Who shows the status of the other one hears that it is right again.
  expect(changes).toContain('192.0.2.9')
  expect(said()).toHaveLength(2)
  await speaker.stop({ keepsRoutes: false })
})

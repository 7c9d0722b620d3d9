import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@kube-ovn/process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { command, speakerOptions, type SpeakerConfig } from './config.ts'

const required = ['--cluster-as=65000', '--neighbor-as=65001', '--neighbor-address=192.0.2.9,192.0.2.10']

function configOf(
  flags: readonly string[],
  environment: Record<string, string> = { NODE_NAME: 'node-1' },
): SpeakerConfig {
  const parsed = readConfig(command, [...flags], environment)
  if (parsed.kind === 'help') throw new Error('no configuration')
  return parsed.config
}

it('reads flags of upstream', () => {
  const flags = [
    '--neighbor-ipv6-address=2001:db8::9',
    '--holdtime=30s',
    '--graceful-restart',
    '--ebgp-multihop=3',
  ]
  const environment = { NODE_NAME: 'node-1', POD_IPS: 'fd00::5,172.18.0.5' }
  expect(speakerOptions(configOf([...required, ...flags], environment))).toMatchObject({
    ...{ as: 65_000, identifier: '172.18.0.5', holdTimeS: 30, listenPort: 179 },
    gracefulRestart: { timeS: 90, deferralS: 360 },
    peers: [
      { address: '192.0.2.9', as: 65_001, families: ['ipv4'], isPassive: false, ttl: 3 },
      { address: '192.0.2.10', families: ['ipv4'] },
      { address: '2001:db8::9', families: ['ipv6'], extendedNextHop: false },
    ],
  })
})

it('speaks IPv4 over IPv6 when it is told to, and far away within an AS', () => {
  const flags = ['--cluster-as=65000', '--neighbor-as=65000', '--neighbor-ipv6-address=2001:db8::9']
  expect(speakerOptions(configOf([...flags, '--extended-nexthop', '--holdtime=65536s']))).toMatchObject({
    holdTimeS: 65_535,
    gracefulRestart: undefined,
    peers: [{ families: ['ipv6', 'ipv4'], extendedNextHop: true, ttl: 64 }],
  })
})

it('has an identifier without any IPv4 address', () => {
  const of = (name: string): string =>
    speakerOptions(configOf(required, { NODE_NAME: name, POD_IP: 'fd00::5' })).identifier
  expect(of('node-1')).toMatch(/^\d+(\.\d+){3}$/)
  expect([of('node-1') === of('node-1'), of('node-1') === of('node-2')]).toEqual([true, false])
})

it('names all that is missing', () => {
  expect(() => speakerOptions(configOf([], {}))).toThrow(
    expect.objectContaining({
      details: expect.objectContaining({
        value:
          'missing required flags: --cluster-as, --neighbor-as, ' +
          '--neighbor-address or --neighbor-ipv6-address, --node-name',
      }),
    }),
  )
})

it('takes the password out of a file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'speaker-'))
  try {
    const path = join(directory, 'password')
    writeFileSync(path, 'secret\n')
    const passwords = speakerOptions(configOf([...required, `--auth-password-file=${path}`])).peers.map(
      ({ password }) => password,
    )
    expect(passwords).toEqual(['secret', 'secret'])
    rmSync(path)
    expect(() => speakerOptions(configOf([...required, `--auth-password-file=${path}`]))).toThrow(
      'configuration is invalid',
    )
  } finally {
    rmSync(directory, { recursive: true })
  }
})

describe('for a NAT gateway', () => {
  const flags = ['--cluster-as=65000', '--neighbor-as=65001', '--neighbor-address=192.0.2.9', '--nat-gw-mode']
  const optionsOf = (environment: Readonly<Record<string, string>>): ReturnType<typeof speakerOptions> => {
    const parsed = readConfig(command, flags, environment)
    return speakerOptions(parsed.kind === 'help' ? expect.unreachable() : parsed.config)
  }

  it('needs no node', () => {
    expect(optionsOf({ GATEWAY_NAME: 'gw', POD_IPS: '10.16.0.9' })).toMatchObject({ identifier: '10.16.0.9' })
  })

  it('has an identifier of its own without any IPv4 address', () => {
    const identifiers = ['gw', 'other'].map((name) => optionsOf({ GATEWAY_NAME: name }).identifier)
    expect(new Set(identifiers).size).toBe(2)
    expect(optionsOf({ GATEWAY_NAME: 'gw' }).identifier).toBe(identifiers[0])
  })

  it('names what is missing', () => {
    expect(() => optionsOf({ NODE_NAME: 'node-1' })).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field: 'GATEWAY_NAME' }) }),
    )
  })
})

describe('neighbours of a file', () => {
  let directory: string

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'speaker-'))))
  afterEach(() => rmSync(directory, { recursive: true }))

  function optionsOf(neighbors: unknown, ...flags: readonly string[]): ReturnType<typeof speakerOptions> {
    const path = join(directory, 'neighbors.json')
    writeFileSync(path, typeof neighbors === 'string' ? neighbors : JSON.stringify(neighbors))
    return speakerOptions(configOf([...required, `--neighbors-file=${path}`, ...flags]))
  }

  it('are told what is different for each, and the rest as flags say', () => {
    const password = join(directory, 'password')
    writeFileSync(password, 'other')
    const { peers } = optionsOf(
      [
        {
          ...{ address: '192.0.2.10', as: 65_000, holdtimeSeconds: 9, passive: true, port: 1179 },
          ...{ communities: ['65000:1:2'], localPreference: 50, med: 7, passwordFile: password },
        },
        { address: '2001:db8::7', ebgpMultihop: 4, extendedNexthop: true },
      ],
      ...['--communities=65000:9,65000:3:4', '--local-preference=200', '--auth-password=all'],
    )
    const ofAll = { communities: ['65000:9'], largeCommunities: ['65000:3:4'], localPreference: 200 }
    expect(peers).toMatchObject([
      { address: '192.0.2.9', as: 65_001, ttl: 1, isWatched: true, password: 'all', attributes: ofAll },
      {
        ...{ address: '192.0.2.10', as: 65_000, ttl: 64, holdTimeS: 9, isPassive: true, port: 1179 },
        ...{
          password: 'other',
          attributes: { largeCommunities: ['65000:1:2'], localPreference: 50, med: 7 },
        },
      },
      {
        ...{ address: '2001:db8::7', as: 65_001, ttl: 4, families: ['ipv6', 'ipv4'], isWatched: false },
        attributes: ofAll,
      },
    ])
  })

  it('need no flag about others', () => {
    const path = join(directory, 'neighbors.json')
    writeFileSync(path, JSON.stringify([{ address: '192.0.2.9', as: 65_001 }]))
    expect(speakerOptions(configOf(['--cluster-as=65000', `--neighbors-file=${path}`])).peers).toHaveLength(1)
  })

  it('that are wrong are refused by their fields, and cost others nothing', () => {
    const long = join(directory, 'long')
    writeFileSync(long, 'x'.repeat(81))
    const { peers, refusals } = optionsOf([
      { address: '2001:DB8::7' },
      { address: '192.0.2.10', passwordFile: '/nowhere' },
      { address: '2001:db8:0::7', as: 65_002 },
      { address: '192.0.2.11', passwordFile: long },
      { address: '192.0.2.12', as: 65_003, holdtimeSeconds: 2 },
      { address: 'router' },
      // The flags name it as well, and know less of it.
      { address: '192.0.2.9', port: 0 },
      7,
    ])
    expect(peers.map(({ address, as, refused }) => [address, as, refused?.field])).toEqual([
      ['2001:db8::7', 65_001, undefined],
      ['192.0.2.12', 65_003, 'neighbors-file[4].holdtimeSeconds'],
      ['192.0.2.9', 65_001, 'neighbors-file[6].port'],
      ['192.0.2.10', 65_001, 'neighbors-file[1].passwordFile'],
      ['192.0.2.11', 65_001, 'neighbors-file[3].passwordFile'],
    ])
    expect(peers.find(({ address }) => address === '192.0.2.11')?.refused).toMatchObject({
      value: '81 bytes',
    })
    expect(refusals.map(({ field, value }) => [field, value])).toEqual([
      ['neighbors-file[2].address', '2001:db8::7'],
      ['neighbors-file[5].address', expect.any(String)],
      ['neighbors-file[7]', expect.any(String)],
    ])
  })

  it('need the AS of each, of the flags where it is of all', () => {
    const path = join(directory, 'neighbors.json')
    writeFileSync(path, JSON.stringify([{ address: '192.0.2.9', as: 65_001 }, { address: '192.0.2.10' }]))
    const { peers } = speakerOptions(configOf(['--cluster-as=65000', `--neighbors-file=${path}`]))
    expect(peers.map(({ refused }) => refused?.field)).toEqual([undefined, 'neighbors-file[1].as'])
  })

  it.each<[unknown, string]>([
    ['no JSON', 'neighbors-file'],
    [{ address: '192.0.2.9' }, 'neighbors-file'],
    [[{ address: 'router' }], 'neighbors-file[0].address'],
    [[{ address: 'fe80::9' }], 'neighbors-file[0].address'],
    [[{ address: '192.0.2.9', communities: ['65000:70000'] }], 'neighbors-file[0].communities[0]'],
    [[{ address: '192.0.2.9', holdtimeSeconds: 2 }], 'neighbors-file[0].holdtimeSeconds'],
    [[{ address: '192.0.2.9', asn: 65_001 }], 'neighbors-file[0]'],
    [[{ address: '192.0.2.9', passwordFile: '/nowhere' }], 'neighbors-file[0].passwordFile'],
  ])('of which the only one is garbage are refused by its field: %j', (neighbors, field) => {
    const alone = ['--neighbor-address=', '--neighbor-ipv6-address=']
    expect(() => optionsOf(neighbors, ...alone)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field }) }),
    )
  })
})

it.each([
  ['--communities=65000', 'communities'],
  ['--communities=65000:9,no', 'communities'],
  ['--neighbor-ipv6-address=2001:db8::9,fe80::9', '--neighbor-ipv6-address'],
  ['--local-preference=-1', 'local-preference'],
])('refuses %s', (flag, field) => {
  expect(() => speakerOptions(configOf([...required, flag]))).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ field }) }),
  )
})

it('refuses more communities than a message has room for', () => {
  const communities = Array.from({ length: 101 }, (_, number) => `65000:${number}`)
  const optionsWith = (count: number) =>
    speakerOptions(configOf([...required, `--communities=${communities.slice(0, count).join()}`]))
  expect(optionsWith(100).peers).toHaveLength(2)
  expect(() => optionsWith(101)).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ field: 'communities' }) }),
  )
})

it('has BFD as upstream has it', () => {
  expect(speakerOptions(configOf(required)).bfd).toBeUndefined()
  expect(speakerOptions(configOf([...required, '--enable-bfd', '--bfd-min-tx=300'])).bfd).toEqual({
    ...{ minTxMs: 300, minRxMs: 1000, multiplier: 3 },
  })
})

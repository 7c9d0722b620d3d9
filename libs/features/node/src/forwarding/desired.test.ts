import { parseCidr, parseIp } from '@kube-ovn/ip'
import type { AddressInfo } from '@kube-ovn/netlink'
import { describe, expect, it } from 'vitest'
import { desiredForwarding } from './desired.ts'

function addressOf(index: number, cidr: string): AddressInfo {
  const family = cidr.includes(':') ? 'ipv6' : 'ipv4'
  const flags = { scope: 0, flags: 0, isTentative: false, isDuplicate: false, isPermanent: true }
  return { family, index, cidr, ...flags }
}

const addresses = [
  addressOf(2, '10.16.0.5/16'),
  addressOf(3, '172.18.0.18/16'),
  addressOf(3, 'fd00:18::18/64'),
]

const v4 = {
  address: parseIp('172.18.0.18'),
  gateway: parseIp('172.18.0.1'),
  to: parseIp('10.96.7.7'),
}
const v6 = { address: parseIp('fd00:18::18'), to: parseIp('fd00:10:96::7') }
const web = { protocol: 'TCP', port: 80 } as const

/** Rules of a chain in nft's words, near enough. */
function rulesOf(name: string, ...[forwards]: [Parameters<typeof desiredForwarding>[0]]): readonly string[] {
  const chain = desiredForwarding(forwards, addresses).table.chains.find((one) => one.name === name)
  return (chain?.rules ?? []).map(({ statements }) =>
    statements.map((one) => JSON.stringify(one).replaceAll(/["{}[\]]/g, '')).join(' '),
  )
}

describe('desiredForwarding', () => {
  it('has answers leave by the network by which questions come', () => {
    const { routes, rules, missing } = desiredForwarding(
      { families: [v4, v6], ports: [web], sources: [] },
      addresses,
    )
    expect(routes).toEqual([
      { index: 3, table: 100, destination: '172.18.0.0/16' },
      { index: 3, table: 100, destination: '0.0.0.0/0', gateway: '172.18.0.1', onlink: true },
      { index: 3, table: 100, destination: 'fd00:18::/64' },
    ])
    expect(rules).toEqual([
      { family: 'ipv4', priority: 100, inputInterface: 'eth0', table: 100 },
      { family: 'ipv4', priority: 100, from: '172.18.0.18/32', table: 100 },
      { family: 'ipv6', priority: 100, inputInterface: 'eth0', table: 100 },
      { family: 'ipv6', priority: 100, from: 'fd00:18::18/128', table: 100 },
    ])
    expect(missing).toEqual([])
  })

  it('leads to the port of the Service, by protocols, and lets nothing else through', () => {
    const ports = [web, { protocol: 'UDP', port: 53 }, { protocol: 'TCP', port: 443 }] as const
    const forwards = { families: [v4], ports, sources: [] }
    expect(rulesOf('prerouting', forwards)).toEqual([
      expect.stringMatching(
        /daddr.*172\.18\.0\.18.*right:tcp .*set:80,443 dnat:family:ip,addr:10\.96\.7\.7$/,
      ),
      expect.stringMatching(/daddr.*172\.18\.0\.18.*right:udp .*set:53 dnat:family:ip,addr:10\.96\.7\.7$/),
    ])
    expect(rulesOf('forward', forwards)).toEqual([
      expect.stringMatching(/dnat .*right:reply accept:null$/),
      expect.stringMatching(/dnat .*right:original .*10\.96\.7\.7 .*right:tcp .*set:80,443 accept:null$/),
      expect.stringMatching(/dnat .*right:original .*10\.96\.7\.7 .*right:udp .*set:53 accept:null$/),
    ])
    const { chains } = desiredForwarding(forwards, addresses).table
    expect(chains.find(({ name }) => name === 'forward')?.base?.policy).toBe('drop')
  })

  it.each([
    ['nobody of a family without sources', ['192.0.2.0/24'], ['192.0.2.0', undefined]],
    ['everybody', ['0.0.0.0/0', '::/0', '192.0.2.0/24'], ['any', 'any']],
    [
      'no prefix twice',
      ['192.0.2.0/24', '192.0.2.128/25', '192.0.2.7/24', 'fd00::/8'],
      ['192.0.2.0', 'fd00::'],
    ],
  ])('lets in %s', (_name, sources, wanted) => {
    const forwards = { families: [v4, v6], ports: [web], sources: sources.map((text) => parseCidr(text)) }
    const seen = ['172.18.0.18', 'fd00:18::18'].map((address) => {
      const rule = rulesOf('prerouting', forwards).find((text) => text.includes(address))
      if (rule === undefined) return undefined
      return /saddr,?.*?set:(?<prefixes>.*?) match/.exec(rule)?.groups?.['prefixes'] ?? 'any'
    })
    const first = wanted.map((one) =>
      one === undefined || one === 'any' ? one : expect.stringContaining(one),
    )
    expect(seen).toEqual(first)
    for (const text of seen) expect((text ?? '').split('prefix').length).toBeLessThanOrEqual(2)
  })

  it('says which address the Pod has not', () => {
    const other = { ...v4, address: parseIp('172.18.0.19') }
    const { routes, table, missing } = desiredForwarding(
      { families: [other], ports: [web], sources: [] },
      addresses,
    )
    expect(missing).toEqual([other.address])
    expect([routes, table.chains.find(({ name }) => name === 'prerouting')?.rules]).toEqual([[], []])
  })
})

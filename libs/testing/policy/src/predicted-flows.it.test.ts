import type { NetworkPolicy } from '@kube-ovn/kube-api/core'
import { networkPolicyRows, parseNetworkPolicy, type PolicyAcl } from '@kube-ovn/policy'
import { flowsOfAcl } from '@kube-ovn/policy/explain'
import { countAclFlows, startNorthbound, type Northbound } from '@kube-ovn/testing-ovsdb'
import { expect, it } from 'vitest'

type Rules = NonNullable<NonNullable<NetworkPolicy['spec']>['ingress']>

const node = 'n1'
const peers = 20

const ports = (count: number, protocol = 'TCP') =>
  Array.from({ length: count }, (_, index) => ({ protocol, port: 1000 + 2 * index }))
const blocks = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ipBlock: { cidr: `10.0.${index}.0/24` } }))
const pods = [{ podSelector: {} }]

/** Policies, whether their rules come apart into exactly as many OpenFlow rules as are told, and how many ACLs they have. */
const policies: readonly (readonly [what: string, rules: Rules, isExact: boolean, acls: number])[] = [
  ['everybody', [{}], true, 1],
  ['pods', [{ from: pods }], true, 1],
  ['pods on some ports', [{ from: pods, ports: ports(16) }], true, 16],
  ['pods on many ports', [{ from: pods, ports: ports(17) }], true, 1],
  [
    'pods on many ports of several protocols',
    [{ from: pods, ports: [...ports(17), ...ports(17, 'UDP'), { protocol: 'SCTP' }] }],
    true,
    3,
  ],
  ['pods on a range', [{ from: pods, ports: [{ port: 1000, endPort: 2000 }] }], true, 1],
  ['pods on all ports but the first', [{ from: pods, ports: [{ port: 2, endPort: 65_535 }] }], true, 1],
  ['pods on many ranges', [{ from: pods, ports: [...ports(7), { port: 1, endPort: 500 }] }], true, 1],
  ['blocks on many ports', [{ from: blocks(60), ports: ports(60) }], true, 1],
  ['blocks on some ports', [{ from: blocks(10), ports: ports(10) }], true, 10],
  [
    'a block with exceptions',
    [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '10.2.3.0/24'] } }] }],
    false,
    1,
  ],
  [
    'blocks with more exceptions',
    [{ from: [...blocks(3), { ipBlock: { cidr: '64.0.0.0/2', except: ['64.1.0.0/16', '66.2.3.0/24'] } }] }],
    true,
    1,
  ],
]

it('an ovn-controller makes as many OpenFlow rules of policies as are predicted', async () => {
  await using northbound = await startNorthbound({ northd: true })
  const written = policies.map(([what, ingress, isExact, count], index) => {
    const group = `p${index}`
    const object = parseNetworkPolicy({
      metadata: { name: group, namespace: 'shop' },
      spec: { podSelector: {}, ingress: [...ingress] },
    })
    const { acls, sets } = networkPolicyRows(object, {
      ...{ namespace: 'shop', name: group, group, families: [4], isLax: false, passesIcmpv6: true },
      ...{ stopsOpenConnections: false, peerFamilies: () => [4], numbersOf: () => [] },
    })
    expect(object.problems).toEqual([])
    const addresses = Array.from({ length: peers }, (_, place) => `10.16.${index}.${place + 1}`)
    const filled = sets.map(({ name, addresses: own }) => {
      const isOfPeers = own.length === 0 && name.includes('.allow.')
      return { name, addresses: isOfPeers ? addresses : own }
    })
    const allowing = acls.filter(({ action }) => action === 'allow-related')
    expect(allowing, what).toHaveLength(count)
    // By its priority it is seen in the flows which policy they are of.
    return {
      what,
      isExact,
      group,
      sets: filled,
      acls: allowing.map((acl) => ({ ...acl, priority: 2001 + index })),
    }
  })
  await write(northbound, written)
  const rules = await countAclFlows(
    northbound,
    node,
    written.map(({ group }) => group),
  )
  for (const { what, isExact, sets, acls } of written) {
    const sizes = new Map(sets.map(({ name, addresses }) => [`$${name}`, addresses.length]))
    const predicted = acls.reduce(
      (sum, acl) => sum + (flowsOfAcl(acl, (set) => sizes.get(set)) ?? Number.NaN),
      0,
    )
    const counted = rules.ofPriority(acls[0]?.priority ?? 0)
    expect.soft(counted, what).toBeGreaterThan(0)
    expect.soft(counted, what).toBeLessThanOrEqual(predicted)
    if (isExact) expect.soft(counted, what).toBe(predicted)
  }
})

interface Written {
  readonly group: string
  readonly acls: readonly PolicyAcl[]
  readonly sets: readonly { readonly name: string; readonly addresses: readonly string[] }[]
}

/** A port for each policy, on one switch. */
async function write({ server, nbctl }: Northbound, written: readonly Written[]): Promise<void> {
  const operations: object[] = []
  const insert = (table: string, row: object): readonly ['named-uuid', string] => {
    const name = `row${operations.length}`
    operations.push({ op: 'insert', table, row, 'uuid-name': name })
    return ['named-uuid', name]
  }
  const own = written.map(({ group, acls, sets }) => {
    const options = ['map', [['requested-chassis', node]]]
    const port = insert('Logical_Switch_Port', { name: group, addresses: 'unknown', options })
    const rows = acls.map(({ direction, tier, priority, match, action }) =>
      insert('ACL', { direction, tier, priority, match, action }),
    )
    insert('Port_Group', { name: group, ports: port, acls: ['set', rows] })
    for (const { name, addresses } of sets) insert('Address_Set', { name, addresses: ['set', addresses] })
    return port
  })
  insert('Logical_Switch', { name: 'blue', ports: ['set', own] })
  await server.transact(operations)
  await nbctl('--wait=sb', 'sync')
}

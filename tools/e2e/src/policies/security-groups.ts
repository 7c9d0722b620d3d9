import {
  addressesOfPod,
  applyAll,
  deleteAll,
  idlePod,
  ovnCentral,
  untilPodsReady,
  type ApiObject,
  type Cluster,
  type MatrixRuleInput,
} from '@kube-ovn/lab'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { both, versions } from './group-rules.ts'
import { among, blocked, entered, expectClaims } from './claims.ts'
import { expectNoneBegin } from './knocks.ts'
import { expectNoneLost, startPings, untilEdited } from './packets.ts'

/** Ports at which nothing but the probe listens. */
const [openPort, closedPort, passedPort] = [18_080, 18_081, 18_090]

function group(name: string, spec: object): ApiObject {
  return { apiVersion: 'kubeovn.io/v1', kind: 'SecurityGroup', metadata: { name }, spec } as ApiObject
}

const at = (port: number) => ({ protocol: 'tcp', portRangeMin: port, portRangeMax: port })
const fromBuyers = {
  remoteType: 'securityGroup',
  remoteAddress: '',
  remoteSecurityGroup: 'buyers',
  ...at(openPort),
}
const egressRules = both({})

function sellers(...more: readonly object[]): ApiObject {
  const ingressRules = [...both(fromBuyers), ...both({ ...at(passedPort), policy: 'pass' }), ...more]
  return group('sellers', { allowSameGroupTraffic: true, ingressRules, egressRules })
}

/** Asked about what the others pass on. */
function fallback(...ingressRules: readonly object[]): ApiObject {
  return group('fallback', { tier: 1, ingressRules, egressRules })
}

function pod(name: string, node: string, app: string, groups?: string): ApiObject {
  const annotations =
    groups === undefined
      ? {}
      : { 'ovn.kubernetes.io/security_groups': groups, 'ovn.kubernetes.io/port_security': 'true' }
  return idlePod({ name, namespace: 'fair', labels: { app }, annotations }, node)
}

const groups = [group('buyers', { egressRules }), sellers(), fallback(...both(at(passedPort)))]
const people: readonly ApiObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fair' } },
  pod('seller-1', 'node-1', 'seller', 'sellers,fallback'),
  pod('seller-2', 'node-2', 'seller', 'sellers,fallback'),
  pod('buyer', 'node-2', 'buyer', 'buyers'),
  pod('passer-by', 'node-2', 'passer-by'),
]

type Party = MatrixRuleInput['from']
const [allSellers, buyer, passerBy] = ['seller', 'buyer', 'passer-by'].map((app): Party => [
  { namespace: 'fair', pods: `app=${app}` },
]) as [Party, Party, Party]
const asked = (from: Party, to: Party, port: number): MatrixRuleInput => ({ from, to, by: ['tcp'], port })
const refused = (rule: MatrixRuleInput): MatrixRuleInput => ({ ...rule, ...blocked })

/** Who is let in by SecurityGroups. */
export function securityGroups(lab: () => Cluster): void {
  beforeAll(async () => {
    await applyAll(lab().api, [...groups, ...people])
    await untilPodsReady(lab().api, 'fair', '', 4)
  })

  afterAll(() => deleteAll(lab().api, [...groups, ...people]))

  const expectSeen = (what: string, rules: readonly MatrixRuleInput[]) => expectClaims(lab(), what, rules)

  it('are let in from members of a group that is named, and of their own', () =>
    expectSeen('buyers are served', [
      asked(buyer, allSellers, openPort),
      refused(asked(buyer, allSellers, closedPort)),
      refused(asked(passerBy, allSellers, openPort)),
      asked(allSellers, allSellers, closedPort),
      refused(asked(allSellers, buyer, openPort)),
      asked(allSellers, passerBy, openPort),
    ]))

  it('are passed on to groups of the next tier', async () => {
    await expectSeen('it lets them in', [asked(passerBy, allSellers, passedPort)])
    await applyAll(lab().api, [fallback()])
    await expectSeen('without the rule it does not', [refused(asked(passerBy, allSellers, passedPort))])
    await applyAll(lab().api, [fallback(...both(at(passedPort)))])
    await expectSeen('it does again', [asked(passerBy, allSellers, passedPort)])
  })

  it('are decided by the rule that comes first', async () => {
    const [found] = await untilPodsReady(lab().api, 'fair', 'app=buyer', 1)
    if (found === undefined) throw new Error('there is one')
    const [remoteAddress = '', other] = addressesOfPod(found)
    const [ipVersion, otherVersion] = remoteAddress.includes(':') ? (['ipv6', 'ipv4'] as const) : versions
    const drop = { priority: 5, policy: 'drop', remoteType: 'address', ...at(openPort) }
    await applyAll(lab().api, [sellers({ ...drop, ipVersion, remoteAddress })])
    await expectSeen('one family is dropped', [
      refused({ ...asked(buyer, allSellers, openPort), families: [ipVersion] }),
      ...(other === undefined ? [] : [{ ...asked(buyer, allSellers, openPort), families: [otherVersion] }]),
      asked(allSellers, allSellers, openPort),
    ])
    await applyAll(lab().api, [sellers()])
    await expectSeen('none is any more', [asked(buyer, allSellers, openPort)])
  })

  it('that stay allowed pass while a group is edited, all of them', async () => {
    const [buyers, [seller]] = await Promise.all([
      untilPodsReady(lab().api, 'fair', 'app=buyer', 1),
      untilPodsReady(lab().api, 'fair', 'app=seller', 2),
    ])
    if (seller === undefined) return expect.unreachable()
    const central = await ovnCentral(lab())
    const echoes = [
      { ipVersion: 'ipv4', protocol: 'icmp' },
      { ipVersion: 'ipv6', protocol: 'icmp' },
    ].map((one, index) => ({
      ...{ ...one, policy: 'allow', priority: 20 + index },
      ...{ remoteType: 'securityGroup', remoteSecurityGroup: 'buyers' },
    }))
    const everybody = both({ protocol: 'all', priority: 30 })
    const versions = [
      sellers(...echoes, ...both({ ...at(closedPort), policy: 'drop', priority: 5 })),
      sellers(...echoes, ...everybody),
      sellers(...everybody),
      sellers(...echoes.map((one) => ({ ...one, priority: one.priority + 50 }))),
      sellers(...echoes),
    ]
    await applyAll(lab().api, [sellers(...echoes)])
    await expectSeen('buyers are served', [asked(buyer, allSellers, openPort)])
    const pings = await startPings(lab(), buyers, addressesOfPod(seller))
    for (const version of versions)
      await untilEdited(central, 'ovn.sg.sellers', () => applyAll(lab().api, [version]))
    await expectNoneLost(pings, versions.length)
    await applyAll(lab().api, [sellers()])
  })

  it('are let in from a pod as soon as it is in a group', async () => {
    const path = '/api/v1/namespaces/fair/pods/passer-by'
    const join = (name: string | null) =>
      lab().api.mergePatch(path, { metadata: { annotations: { 'ovn.kubernetes.io/security_groups': name } } })
    await join('buyers')
    await expectSeen('it is served', [
      asked(passerBy, allSellers, openPort),
      refused(asked(allSellers, passerBy, openPort)),
    ])
    await join(null)
    await expectSeen('it is not', [
      refused(asked(passerBy, allSellers, openPort)),
      asked(allSellers, passerBy, openPort),
    ])
  })

  it('of connections that it drops begin none within a second', async () => {
    const [dbs, webs] = await Promise.all([
      untilPodsReady(lab().api, 'stock', 'app=db', 3),
      untilPodsReady(lab().api, 'shop', 'app=web', 3),
    ])
    const [web] = webs
    if (web === undefined) return expect.unreachable()
    const inStock = { ipv4: '10.18.0.0/16', ipv6: 'fd00:10:18::/112' } as const
    const doors = (policy: string) => {
      const fromStock = both({ policy, priority: 5 }).map((one, index) => ({
        ...{ ...one, remoteAddress: inStock[versions[index] ?? 'ipv4'] },
      }))
      return group('doors', { ingressRules: [...fromStock, ...both({})], egressRules })
    }
    const name = (of: string | null) =>
      Promise.all(
        webs.map(({ metadata }) =>
          lab().api.mergePatch(`/api/v1/namespaces/shop/pods/${metadata.name}`, {
            metadata: { annotations: { 'ovn.kubernetes.io/security_groups': of } },
          }),
        ),
      )
    await name('doors')
    try {
      await expectNoneBegin(lab(), {
        ...{ open: doors('allow'), closed: doors('drop'), group: 'ovn.sg.doors' },
        ...{ from: dbs, addresses: addressesOfPod(web), claims: [refused(entered), among] },
      })
    } finally {
      await name(null)
    }
  })

  it('are let in everywhere once there is no group', async () => {
    await deleteAll(lab().api, groups)
    await expectSeen('all are served', [
      asked(passerBy, allSellers, closedPort),
      asked(allSellers, buyer, closedPort),
    ])
  })
}

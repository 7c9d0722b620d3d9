import {
  addressesOfPod,
  applyAll,
  deleteAll,
  eventually,
  idlePod,
  ovnCentral,
  placeOf,
  startPing,
  takeDownPod,
  untilPod,
  untilPodsReady,
  type ApiObject,
  type Cluster,
  type MatrixRuleInput,
} from '@kube-ovn/lab'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { among, blocked, during, entered, expectClaims, left, port, shop, stock } from './claims.ts'
import { expectNoneBegin, knockAt, untilAllOpen } from './knocks.ts'
import { newAddresses, newcomer } from './newcomer.ts'
import {
  firstPort,
  guest1,
  guest2,
  guests,
  otherPort,
  people,
  secondPort,
  till1,
  till2,
  type Party,
} from './people.ts'
import {
  addressLike,
  endPod,
  expectNoneLost,
  isReached,
  startPings,
  untilEdited,
  untilInEffect,
} from './packets.ts'

type Policy = ApiObject & { readonly spec: object }

function policy(namespace: string, name: string, spec: object): Policy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, namespace },
    spec: { podSelector: {}, ...spec },
  }
}

const named = (name: string) => ({ matchLabels: { 'kubernetes.io/metadata.name': name } })
const labelled = (role: string) => ({ matchLabels: { role } })
const ingress = (...rules: readonly object[]) => ({ policyTypes: ['Ingress'], ingress: rules })
const egress = (...rules: readonly object[]) => ({ policyTypes: ['Egress'], egress: rules })

const asked = (from: Party, to: Party, at: number, by: MatrixRuleInput['by'] = ['tcp']): MatrixRuleInput => ({
  ...{ from, to, by, port: at },
})
const refused = (rule: MatrixRuleInput): MatrixRuleInput => ({ ...rule, ...blocked })

/** Who is let in and out by NetworkPolicies. */
export function networkPolicies(lab: () => Cluster): void {
  beforeAll(async () => {
    await applyAll(lab().api, people)
    await untilPodsReady(lab().api, 'town', 'role=till', 3)
    await untilPodsReady(lab().api, 'village', 'role=guest', 2)
  })

  afterAll(() => deleteAll(lab().api, people))

  const expectSeen = (what: string, rules: readonly MatrixRuleInput[]) => expectClaims(lab(), what, rules)
  const expectUnder = (policies: readonly Policy[], what: string, rules: readonly MatrixRuleInput[]) =>
    during(lab(), policies, () => expectSeen(what, rules))
  const podsOf = (namespace: string, labels: string, count: number) =>
    untilPodsReady(lab().api, namespace, labels, count)

  it('are dropped where nothing is allowed, but for what a node asks its own pods', async () => {
    const cluster = lab()
    await during(cluster, [policy('shop', 'none', ingress())], async () => {
      await expectSeen('nobody comes in', [refused(entered), refused(among), left])
      const pods = await podsOf('shop', 'app=web', 3)
      const nodeOf = new Map(pods.map(({ metadata, spec }) => [`shop/${metadata.name}`, spec.nodeName]))
      // What is seen of each pair, not what is expected of all.
      await expectClaims(
        cluster,
        'a node reaches its own pods alone',
        [{ from: ['nodes'], to: shop, by: ['http'], port }],
        ({ from, to, seen }) => (seen === 'reached') === (nodeOf.get(to) === from),
      )
    })
  })

  it('are dropped on their way out where nothing is allowed, to pods and to the outside', () =>
    expectUnder([policy('shop', 'none', egress())], 'nobody goes out', [
      refused(left),
      refused(asked(shop, ['outside'], firstPort)),
      entered,
    ]))

  it('come from pods whose labels and namespaces both match, or either', async () => {
    const both = ingress({
      from: [{ namespaceSelector: { matchLabels: { of: 'guests' } }, podSelector: labelled('guest') }],
    })
    const either = ingress({
      from: [{ namespaceSelector: named('stock') }, { podSelector: labelled('till') }],
    })
    const bad = { matchExpressions: [{ key: 'mood', operator: 'DoesNotExist' }] }
    const expressed = ingress({
      from: [{ namespaceSelector: {}, podSelector: { ...labelled('guest'), ...bad } }],
    })
    const [toTill, amongTills] = [asked(guests, till1, firstPort), asked(till2, till1, firstPort)]
    const fromStock = asked(stock, till1, firstPort)
    await during(lab(), [policy('town', 'peers', both)], async () => {
      await expectSeen('both', [toTill, refused(amongTills), refused(fromStock)])
      await applyAll(lab().api, [policy('town', 'peers', either)])
      await expectSeen('either', [refused(toTill), amongTills, fromStock])
      await applyAll(lab().api, [policy('town', 'peers', expressed)])
      await expectSeen('by an expression', [
        asked(guest1, till1, firstPort),
        refused(asked(guest2, till1, firstPort)),
        refused(fromStock),
      ])
    })
  })

  it('are restricted in TCP, UDP and SCTP alone by a policy that is lax', async () => {
    const closed = policy('town', 'lax', ingress())
    const annotations = { 'ovn.kubernetes.io/network_policy_enforcement': 'lax' }
    const lax = { ...closed, metadata: { ...closed.metadata, annotations } }
    const pinged: MatrixRuleInput = { from: guests, to: till1, by: ['ping'] }
    await during(lab(), [lax], async () => {
      await expectSeen('all but pings are dropped', [
        refused(asked(guests, till1, firstPort, ['tcp', 'udp', 'sctp'])),
        pinged,
      ])
      await applyAll(lab().api, [closed])
      await expectSeen('as any other it drops these, too', [
        refused(pinged),
        refused(asked(guests, till1, firstPort)),
      ])
    })
  })

  it('follow pods and namespaces that get other labels', async () => {
    const rule = {
      from: [{ namespaceSelector: { matchLabels: { of: 'guests' } }, podSelector: labelled('guest') }],
    }
    const label = (path: string, labels: object) => lab().api.mergePatch(path, { metadata: { labels } })
    const path = '/api/v1/namespaces/village'
    await during(lab(), [policy('town', 'peers', ingress(rule))], async () => {
      await expectSeen('guests come in', [asked(guests, till1, firstPort)])
      await label(`${path}/pods/guest-2`, { role: 'thief' })
      await expectSeen('one of them is none any more', [
        asked(guest1, till1, firstPort),
        refused(asked(guest2, till1, firstPort)),
      ])
      await label(path, { of: null })
      await expectSeen('none of the namespace is', [refused(asked(guest1, till1, firstPort))])
      await Promise.all([label(path, { of: 'guests' }), label(`${path}/pods/guest-2`, { role: 'guest' })])
      await expectSeen('all are again', [asked(guests, till1, firstPort)])
    })
  })

  it('come from blocks of addresses but for what is excepted', async () => {
    const [pod] = await podsOf('village', 'mood=bad', 1)
    if (pod === undefined) return expect.unreachable()
    const from = addressesOfPod(pod).map((address) => {
      const [cidr, length] = address.includes(':') ? ['::/0', 128] : ['0.0.0.0/0', 32]
      return { ipBlock: { cidr, except: [`${address}/${length}`] } }
    })
    await expectUnder([policy('town', 'blocks', ingress({ from }))], 'all but one come in', [
      asked([...guest1, ...stock], till1, firstPort),
      refused(asked(guest2, till1, firstPort)),
    ])
  })

  it('pass at ports by number, range, name and protocol', async () => {
    const numbers = ingress({
      ports: [
        { protocol: 'UDP', port: firstPort },
        { protocol: 'TCP', port: secondPort, endPort: otherPort },
        { protocol: 'SCTP', port: firstPort },
      ],
    })
    const byName = ingress({ ports: [{ port: 'till' }] })
    await during(lab(), [policy('town', 'ports', numbers)], async () => {
      await expectSeen('numbers and ranges', [
        asked(guest1, till1, firstPort, ['udp', 'sctp']),
        refused(asked(guest1, till1, firstPort)),
        asked(guest1, till1, secondPort),
        asked(guest1, till1, otherPort),
        refused(asked(guest1, till1, otherPort + 1)),
        refused(asked(guest1, till1, otherPort, ['udp'])),
      ])
      await applyAll(lab().api, [policy('town', 'ports', byName)])
      await expectSeen('the name of a port', [
        asked(guest1, till1, firstPort),
        asked(guest1, till2, secondPort),
        refused(asked(guest1, [...till1, ...till2], otherPort)),
      ])
    })
  })

  it('are led by Services to pods, which are who is judged', async () => {
    const asksTills = egress({
      to: [{ namespaceSelector: named('town'), podSelector: labelled('till') }],
      ports: [{ port: firstPort }, { port: secondPort }],
    })
    const lets = ingress({ from: [{ namespaceSelector: named('village') }] })
    const byService = (from: Party): MatrixRuleInput => ({
      ...{ from, to: [{ namespace: 'town', service: 'tills', port: 80 }], by: ['tcp'] },
    })
    await during(
      lab(),
      [policy('village', 'to-tills', asksTills), policy('town', 'from-village', lets)],
      () =>
        expectSeen('guests are served', [
          byService(guests),
          refused(byService(stock)),
          refused(asked(guests, till1, otherPort)),
        ]),
    )
  })

  it('of the network of a node are judged as those of nodes, whatever selects a pod there', () =>
    expectUnder([policy('town', 'none', { policyTypes: ['Ingress', 'Egress'] })], 'only pods are cut off', [
      asked(guests, ['nodes'], firstPort),
      asked(['nodes'], guests, firstPort),
      asked(['nodes'], ['outside'], firstPort),
      refused(asked(guest1, till1, firstPort)),
      refused(asked(till1, guests, firstPort)),
    ]))

  it('are judged until pods are gone, of those that are on their way out, too', async () => {
    const cluster = lab()
    const lets = { from: [{ namespaceSelector: named('village'), podSelector: labelled('leaver') }] }
    // Nobody listens there to the signal that asks it to end.
    const slow = (name: string, namespace: string, role: string): ApiObject => {
      const idle = idlePod({ name, namespace, labels: { role } }) as ApiObject & { readonly spec: object }
      return { ...idle, spec: { ...idle.spec, terminationGracePeriodSeconds: 120 } } as ApiObject
    }
    const pods = [slow('leaver', 'village', 'leaver'), slow('closing', 'town', 'closing')]
    await applyAll(cluster.api, pods)
    const [[leaver], [closing], [stranger]] = await Promise.all([
      podsOf('village', 'role=leaver', 1),
      podsOf('town', 'role=closing', 1),
      podsOf('stock', 'app=db', 3),
    ])
    if (leaver === undefined || closing === undefined || stranger === undefined) return expect.unreachable()
    const [from, to, other] = [leaver, closing, stranger].map((pod) => placeOf(cluster, pod))
    if (from === undefined || to === undefined || other === undefined) return expect.unreachable()
    await during(cluster, [policy('town', 'leavers', ingress(lets))], async () => {
      for (const { metadata } of pods)
        await cluster.api.call('DELETE', `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`)
      for (const { metadata } of pods)
        await untilPod(
          ...([cluster.api, metadata.namespace ?? '', metadata.name, 'is on its way out'] as const),
          (pod) => pod?.metadata.deletionTimestamp !== undefined,
        )
      await eventually('the policy holds', async () =>
        (await isReached(other, closing, to, firstPort)).includes(true) ? undefined : true,
      )
      expect(await isReached(from, closing, to, firstPort)).toEqual(addressesOfPod(closing).map(() => true))
    })
    for (const pod of [leaver, closing]) endPod(pod)
    await Promise.all(pods.map((pod) => takeDownPod(cluster.api, pod)))
  })

  it('are kept off a new pod from its first moment on, but for its node', async () => {
    const cluster = lab()
    const [[web], dbs] = await Promise.all([podsOf('shop', 'app=web', 3), podsOf('stock', 'app=db', 3)])
    const db = dbs[0]
    if (web === undefined || db === undefined) return expect.unreachable()
    const addresses = newAddresses(cluster.topology.stack)
    const pod = newcomer(
      addresses,
      addresses.map((one) => [addressLike(one, web), addressLike(one, db)] as const),
    )
    const to = [{ namespaceSelector: named('stock') }]
    const rules = policy('shop', 'newcomers', {
      podSelector: { matchLabels: { app: 'newcomer' } },
      policyTypes: ['Ingress', 'Egress'],
      egress: [{ to }],
    })
    await during(cluster, [rules], async () => {
      await untilInEffect(await ovnCentral(cluster))
      const pings = dbs.map((from) => startPing(placeOf(cluster, from), addresses[0] ?? ''))
      using knocking = new DisposableStack()
      const opened = dbs.flatMap((from) =>
        addresses.map((address) => knockAt(cluster, from, address, knocking)),
      )
      await Promise.all(pings.map((ping) => ping.started()))
      await applyAll(cluster.api, [pod])
      // Its node's kubelet finds it ready when it has asked only those that it may ask.
      const [ready] = await podsOf('shop', 'app=newcomer', 1)
      await expectSeen('nobody comes in', [
        { from: stock, to: [{ namespace: 'shop', pods: 'app=newcomer' }], by: ['http'], port, ...blocked },
      ])
      const losses = await Promise.all(pings.map((ping) => ping.stop()))
      expect(losses.map(({ sent, lost }) => sent - lost.length)).toEqual(dbs.map(() => 0))
      expect(opened.map(({ times }) => times)).toEqual(opened.map(() => 0))
      expect(ready?.status?.podIPs?.map(({ ip }) => ip)).toEqual(addresses)
      await deleteAll(cluster.api, [rules])
      // What knocked would have found it.
      await untilAllOpen(opened)
    })
    await takeDownPod(cluster.api, pod)
  })

  it('that stay allowed pass while a policy is edited, all of them', async () => {
    const cluster = lab()
    const [dbs, [web]] = await Promise.all([podsOf('stock', 'app=db', 3), podsOf('shop', 'app=web', 3)])
    if (web === undefined) return expect.unreachable()
    const central = await ovnCentral(cluster)
    const from = [{ namespaceSelector: named('stock') }]
    const versions = [
      ingress({ from: [...from, { podSelector: {} }] }),
      ingress({ from: [{ namespaceSelector: named('village') }] }, { from }),
      ingress({ from: [{ ipBlock: { cidr: '10.18.0.0/16' } }, { ipBlock: { cidr: 'fd00:10:18::/112' } }] }),
      ingress({ from }, { ports: [{ port }] }),
      { ...ingress({ from }), podSelector: { matchLabels: { app: 'web' } } },
      ingress({}),
      { policyTypes: ['Ingress', 'Egress'], ingress: [{ from }], egress: [{}] },
    ]
    await during(cluster, [policy('shop', 'edited', ingress({ from }))], async () => {
      await expectSeen('stock comes in, and no others', [entered, refused(among)])
      const pings = await startPings(cluster, dbs, addressesOfPod(web))
      for (const spec of versions)
        await untilEdited(central, 'edited.shop', () =>
          applyAll(cluster.api, [policy('shop', 'edited', spec)]),
        )
      await expectNoneLost(pings, versions.length)
    })
  })

  it('of connections that are open end when they are not allowed any more, and go on when they are again', async () => {
    const cluster = lab()
    const [dbs, [web]] = await Promise.all([podsOf('stock', 'app=db', 3), podsOf('shop', 'app=web', 3)])
    if (web === undefined) return expect.unreachable()
    const central = await ovnCentral(cluster)
    const open = policy('shop', 'ending', ingress({ from: [{ namespaceSelector: named('stock') }] }))
    const closed = policy('shop', 'ending', ingress({ from: [{ podSelector: {} }] }))
    const lates: number[] = []
    await during(cluster, [open], async () => {
      for (let round = 0; round < 3; round++) {
        await expectSeen('stock comes in, and no others', [entered, refused(among)])
        const pings = await startPings(cluster, dbs, addressesOfPod(web))
        const before = pings.map((ping) => ping.sent())
        await untilEdited(central, 'ending.shop', () => applyAll(cluster.api, [closed]))
        const sentOn = () => pings.map((ping) => ping.sent() - ping.answered())
        await eventually('none is answered', () => Promise.resolve(Math.min(...sentOn()) > 10 || undefined))
        const kept = pings.map((ping) => ping.sent())
        await untilEdited(central, 'ending.shop', () => applyAll(cluster.api, [open]))
        const answeredOn = () => pings.map((ping, index) => ping.answered() - (kept[index] ?? 0))
        await eventually('they are answered', () =>
          Promise.resolve(Math.min(...answeredOn()) > 10 || undefined),
        )
        const losses = await Promise.all(pings.map((ping) => ping.stop()))
        // All in one piece: once ended none gets through, and once allowed again none is lost.
        for (const { lost } of losses) {
          const [first = 0] = lost
          expect(lost).toEqual(lost.map((_, place) => first + place))
        }
        lates.push(...losses.map(({ lost: [first = 0] }, index) => first - (before[index] ?? 0)))
      }
    })
    // Of a machine that was busy in one round, or with one of them, another one tells.
    expect(Math.min(...lates)).toBeLessThanOrEqual(mostPingsASecond)
  })

  it('of connections that are not allowed any more begin none within a second', async () => {
    const [dbs, [web]] = await Promise.all([podsOf('stock', 'app=db', 3), podsOf('shop', 'app=web', 3)])
    if (web === undefined) return expect.unreachable()
    await expectNoneBegin(lab(), {
      open: policy('shop', 'closing', ingress({ from: [{ namespaceSelector: named('stock') }] })),
      closed: policy('shop', 'closing', ingress({ from: [{ podSelector: {} }] })),
      ...{ group: 'closing.shop', from: dbs, addresses: addressesOfPod(web) },
      claims: [refused(entered), among],
    })
  })
}

/** Between two of them somebody waits 50 ms. */
const mostPingsASecond = 20

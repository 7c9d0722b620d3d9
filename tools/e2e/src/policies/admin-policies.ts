import {
  addressesOfPod,
  applyAll,
  deleteAll,
  eventually,
  kubectl,
  ovnCentral,
  untilPodsReady,
  type ApiObject,
  type Cluster,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { expectNoneBegin } from './knocks.ts'
import { expectNoneLost, startPings, untilEdited } from './packets.ts'
import { among, blocked, during, entered, expectClaims, left, port, shop, stock } from './claims.ts'

const ofShop = { namespaces: { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } } }
const fromStock = [{ namespaces: { matchLabels: { 'kubernetes.io/metadata.name': 'stock' } } }]

function policy(version: string, kind: string, name: string, spec: object): ApiObject {
  const object = { apiVersion: `policy.networking.k8s.io/${version}`, kind, metadata: { name } }
  return { ...object, spec: { subject: ofShop, ...spec } } as ApiObject
}

const anp = (name: string, spec: object) => policy('v1alpha1', 'AdminNetworkPolicy', name, spec)
const banp = (spec: object) => policy('v1alpha1', 'BaselineAdminNetworkPolicy', 'default', spec)
const cnp = (name: string, spec: object) => policy('v1alpha2', 'ClusterNetworkPolicy', name, spec)

/** A NetworkPolicy that lets in nobody but its own namespace. */
const closed = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'closed', namespace: 'shop' },
  spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from: [{ podSelector: {} }] }] },
} as ApiObject

const rule = (action: string, more: object = {}) => ({ action, from: fromStock, ...more })

/** Who is let in by policies of administrators, beside NetworkPolicies. */
export function adminPolicies(cluster: () => Cluster): void {
  it('are kept off by what an AdminNetworkPolicy denies, and nothing else is', async () => {
    const deny = anp('guard', { priority: 5, ingress: [rule('Deny')] })
    await during(cluster(), [deny], () =>
      expectClaims(cluster(), 'stock is kept off', [{ ...entered, ...blocked }, left, among]),
    )
  })

  it('are let in by what it allows, whatever a NetworkPolicy says', async () => {
    await during(cluster(), [closed], async () => {
      await expectClaims(cluster(), 'the NetworkPolicy keeps stock off', [{ ...entered, ...blocked }, among])
      const ports = [{ portNumber: { protocol: 'TCP', port } }]
      const allow = anp('guard', { priority: 5, ingress: [rule('Allow', { ports })] })
      await applyAll(cluster().api, [allow])
      await expectClaims(cluster(), 'the administrator lets it in, on the port alone', [
        { ...entered },
        { from: stock, to: shop, by: ['ping'], ...blocked },
      ])
      await deleteAll(cluster().api, [allow])
      await expectClaims(cluster(), 'without it stock is kept off again', [{ ...entered, ...blocked }])
    })
  })

  it('are decided by the first rule that names them, and what is passed on by NetworkPolicies', async () => {
    const first = anp('first', { priority: 1, ingress: [rule('Pass')] })
    const second = anp('second', { priority: 2, ingress: [rule('Deny')] })
    await during(cluster(), [first, second], async () => {
      await expectClaims(cluster(), 'passed on to nobody', [entered])
      await applyAll(cluster().api, [closed])
      await expectClaims(cluster(), 'passed on to the NetworkPolicy', [{ ...entered, ...blocked }])
      await deleteAll(cluster().api, [closed])
    })
  })

  it('are decided by the baseline only where no NetworkPolicy is for a pod', async () => {
    const deny = banp({ ingress: [rule('Deny')] })
    const open = { ...closed, spec: { podSelector: {}, ingress: [{}] } } as ApiObject
    await during(cluster(), [deny], async () => {
      await expectClaims(cluster(), 'the baseline keeps stock off', [{ ...entered, ...blocked }, among])
      await applyAll(cluster().api, [open])
      await expectClaims(cluster(), 'the NetworkPolicy lets it in', [entered])
      await deleteAll(cluster().api, [open])
      await expectClaims(cluster(), 'without it the baseline decides again', [{ ...entered, ...blocked }])
    })
  })

  it('follow a ClusterNetworkPolicy in each tier, to networks and nodes', async () => {
    const to = [{ networks: ['0.0.0.0/0', '::/0'] }]
    const toNodes = [{ nodes: {} }]
    const silent = cnp('silent', {
      ...{ tier: 'Admin', priority: 0 },
      egress: [
        { action: 'Accept', to: toNodes },
        { action: 'Deny', to },
      ],
    })
    await during(cluster(), [silent], () =>
      expectClaims(cluster(), 'nobody is asked but nodes', [
        { ...left, ...blocked },
        { from: shop, to: ['nodes'], by: ['ping'] },
        entered,
      ]),
    )
    const baseline = cnp('baseline', { tier: 'Baseline', priority: 0, ingress: [rule('Deny')] })
    await during(cluster(), [baseline], () =>
      expectClaims(cluster(), 'stock is kept off', [{ ...entered, ...blocked }, among]),
    )
  })

  it('that stay allowed pass while a policy is edited, all of them', async () => {
    const [dbs, [web]] = await Promise.all([
      untilPodsReady(cluster().api, 'stock', 'app=db', 3),
      untilPodsReady(cluster().api, 'shop', 'app=web', 3),
    ])
    if (web === undefined) return expect.unreachable()
    const central = await ovnCentral(cluster())
    const guard = (...ingress: readonly object[]) => anp('guard', { priority: 5, ingress })
    const fromVillage = [{ namespaces: { matchLabels: { 'kubernetes.io/metadata.name': 'village' } } }]
    const versions = [
      guard(rule('Allow', { name: 'stock' })),
      guard({ action: 'Deny', from: fromVillage }, rule('Allow')),
      guard({ action: 'Allow', from: [{ namespaces: {} }] }),
      guard(rule('Allow'), { action: 'Deny', from: [{ namespaces: {} }] }),
      anp('guard', { priority: 7, ingress: [rule('Allow')], egress: [{ action: 'Pass', to: fromStock }] }),
    ]
    // Without the administrator's word nobody of stock would be let in.
    await during(cluster(), [guard(rule('Allow')), closed], async () => {
      await expectClaims(cluster(), 'the administrator lets stock in', [entered])
      const pings = await startPings(cluster(), dbs, addressesOfPod(web))
      for (const version of versions)
        await untilEdited(central, 'guard', () => applyAll(cluster().api, [version]))
      await expectNoneLost(pings, versions.length)
    })
  })

  it('of connections that it denies begin none within a second', async () => {
    const [dbs, [web]] = await Promise.all([
      untilPodsReady(cluster().api, 'stock', 'app=db', 3),
      untilPodsReady(cluster().api, 'shop', 'app=web', 3),
    ])
    if (web === undefined) return expect.unreachable()
    await expectNoneBegin(cluster(), {
      open: anp('guard', { priority: 5, ingress: [rule('Allow')] }),
      closed: anp('guard', { priority: 5, ingress: [rule('Deny')] }),
      ...{ group: 'guard', from: dbs, addresses: addressesOfPod(web) },
      claims: [{ ...entered, ...blocked }, among],
    })
  })

  it('stop at a rule that can not be read, of which the policy tells', async () => {
    const unread = anp('unread', { priority: 5, ingress: [{ action: 'Deny', from: [{ planets: {} }] }] })
    await during(cluster(), [unread], async () => {
      await expectClaims(cluster(), 'all are kept off', [
        { ...entered, ...blocked },
        { ...among, ...blocked },
      ])
      // Their kubelets are no peers of a policy.
      await untilPodsReady(cluster().api, 'shop', 'app=web', 3)
      const told = await eventually('an event', async () => {
        const text = await kubectl(cluster(), 'get', 'events', '-A', '-o', 'jsonpath={.items[*].message}')
        return text.includes('spec.ingress[0].from[0]') ? text : undefined
      })
      expect(told).toContain('until then the rule denies everything')
    })
  })
}

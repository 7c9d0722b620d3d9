import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  applyAll,
  deleteAll,
  eventually,
  kubectl,
  parseManifests,
  readExample,
  runMatrix,
  untilPodsReady,
  type ApiObject,
  type Cluster,
  type MatrixRuleInput,
} from '@kube-ovn/lab'
import { foreignCrds } from '@kube-ovn/testing-kube'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { exampleChecks } from './example-checks.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('may define the kinds of the network policy API')

let cluster: Cluster

async function defineKinds({ api }: Cluster): Promise<void> {
  await applyAll(api, parseManifests(await readFile(join(foreignCrds, 'network-policy-api.yaml'), 'utf8')))
}

const lab = useSuiteLab(
  { id: 'admin-policy', nodes: 2, stack: 'dual' },
  { values: { features: { ENABLE_ANP: true } }, beforeChart: defineKinds },
)

beforeAll(async () => {
  ;({ cluster } = lab)
  await applyAll(cluster.api, readExample('01-two-subnets', 'dual'))
  await untilPodsReady(cluster.api, 'shop', 'app=web', 3)
  await untilPodsReady(cluster.api, 'stock', 'app=db', 3)
})

afterAll(async () => {
  await deleteAll(cluster.api, readExample('01-two-subnets', 'dual'))
})

const port = 8080
const shop: MatrixRuleInput['from'] = [{ namespace: 'shop', pods: 'app=web' }]
const stock: MatrixRuleInput['from'] = [{ namespace: 'stock', pods: 'app=db' }]
const served: Pick<MatrixRuleInput, 'by' | 'port'> = { by: ['http'], port }
const blocked = { expect: 'no-reach' } as const
const entered: MatrixRuleInput = { from: stock, to: shop, ...served }
const left: MatrixRuleInput = { from: shop, to: stock, ...served }
const among: MatrixRuleInput = { from: shop, to: shop, ...served }

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

/** Claims hold as soon as what was written has come to all nodes. */
function expectClaims(what: string, rules: readonly MatrixRuleInput[]): Promise<true> {
  return eventually(what, async () => {
    const { rows } = await runMatrix(cluster, rules)
    return rows.every(({ verdict }) => verdict === 'as expected') ? true : undefined
  })
}

/** What objects do while they are there; afterwards everybody is let in again. */
async function during(objects: readonly ApiObject[], check: () => Promise<unknown>): Promise<void> {
  await applyAll(cluster.api, objects)
  try {
    await check()
  } finally {
    await deleteAll(cluster.api, objects)
  }
  await expectClaims('all are let in again', [entered, left, among])
}

const rule = (action: string, more: object = {}) => ({ action, from: fromStock, ...more })

describe('packets, in both families,', () => {
  it('are kept off by what an AdminNetworkPolicy denies, and nothing else is', async () => {
    const deny = anp('guard', { priority: 5, ingress: [rule('Deny')] })
    await during([deny], () => expectClaims('stock is kept off', [{ ...entered, ...blocked }, left, among]))
  })

  it('are let in by what it allows, whatever a NetworkPolicy says', async () => {
    await during([closed], async () => {
      await expectClaims('the NetworkPolicy keeps stock off', [{ ...entered, ...blocked }, among])
      const ports = [{ portNumber: { protocol: 'TCP', port } }]
      const allow = anp('guard', { priority: 5, ingress: [rule('Allow', { ports })] })
      await applyAll(cluster.api, [allow])
      await expectClaims('the administrator lets it in, on the port alone', [
        { ...entered },
        { from: stock, to: shop, by: ['ping'], families: ['ipv4'], ...blocked },
      ])
      await deleteAll(cluster.api, [allow])
      await expectClaims('without it stock is kept off again', [{ ...entered, ...blocked }])
    })
  })

  it('are decided by the first rule that names them, and what is passed on by NetworkPolicies', async () => {
    const first = anp('first', { priority: 1, ingress: [rule('Pass')] })
    const second = anp('second', { priority: 2, ingress: [rule('Deny')] })
    await during([first, second], async () => {
      await expectClaims('passed on to nobody', [entered])
      await applyAll(cluster.api, [closed])
      await expectClaims('passed on to the NetworkPolicy', [{ ...entered, ...blocked }])
      await deleteAll(cluster.api, [closed])
    })
  })

  it('are decided by the baseline only where no NetworkPolicy is for a pod', async () => {
    const deny = banp({ ingress: [rule('Deny')] })
    const open = { ...closed, spec: { podSelector: {}, ingress: [{}] } } as ApiObject
    await during([deny], async () => {
      await expectClaims('the baseline keeps stock off', [{ ...entered, ...blocked }, among])
      await applyAll(cluster.api, [open])
      await expectClaims('the NetworkPolicy lets it in', [entered])
      await deleteAll(cluster.api, [open])
      await expectClaims('without it the baseline decides again', [{ ...entered, ...blocked }])
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
    await during([silent], () =>
      expectClaims('nobody is asked but nodes', [
        { ...left, ...blocked },
        { from: shop, to: ['nodes'], by: ['ping'] },
        entered,
      ]),
    )
    const baseline = cnp('baseline', { tier: 'Baseline', priority: 0, ingress: [rule('Deny')] })
    await during([baseline], () => expectClaims('stock is kept off', [{ ...entered, ...blocked }, among]))
  })

  it('stop at a rule that can not be read, of which the policy tells', async () => {
    const unread = anp('unread', { priority: 5, ingress: [{ action: 'Deny', from: [{ planets: {} }] }] })
    await during([unread], async () => {
      await expectClaims('all are kept off', [
        { ...entered, ...blocked },
        { ...among, ...blocked },
      ])
      // Their kubelets are no peers of a policy.
      await untilPodsReady(cluster.api, 'shop', 'app=web', 3)
      const told = await eventually('an event', async () => {
        const text = await kubectl(cluster, 'get', 'events', '-A', '-o', 'jsonpath={.items[*].message}')
        return text.includes('spec.ingress[0].from[0]') ? text : undefined
      })
      expect(told).toContain('until then the rule denies everything')
    })
  })
})

it('does what the example says', async () => {
  const name = '40-admin-policies'
  const check = exampleChecks[name]
  if (check === undefined) return expect.unreachable()
  const objects = readExample(name, 'dual')
  try {
    await applyAll(cluster.api, objects)
    const { api, kubeconfig } = cluster
    await check({ api, kubeconfig, stack: 'dual' }, objects)
  } finally {
    await deleteAll(cluster.api, objects)
  }
})

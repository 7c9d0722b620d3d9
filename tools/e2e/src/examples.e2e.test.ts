import { BlockList, isIP } from 'node:net'
import {
  addressesOfPod,
  ApiError,
  applyAll,
  deleteAll,
  eventually,
  listExamples,
  presets,
  readExample,
  untilPodsReady,
  type ApiObject,
  type PodObject,
} from '@kube-ovn/lab'
import { leaveBundleOnFailure } from '@kube-ovn/testing-bundle'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { exampleChecks } from './example-checks.ts'
import { refuseUnexplainedRows } from './explained-rows.ts'
import { fetchFrom } from './fetch-from.ts'
import { givenKubeconfig } from './given-cluster.ts'
import { defineMultiNetworkPolicy } from './policies/policy-kinds.ts'
import { openSuiteCluster, type SuiteCluster } from './suite-cluster.ts'

/** Runs on any cluster that has the chart: it sees only what a user sees. */
let cluster: SuiteCluster
let example: readonly ApiObject[]
let shop: readonly PodObject[]
let stock: readonly PodObject[]

beforeAll(async () => {
  cluster = await openSuiteCluster(
    {
      id: 'examples',
      ...{ nodes: presets['underlay']?.nodes ?? 2, vlans: [100] },
      hasNetworkAttachments: true,
    },
    {
      values: { features: { enableLoadbalancerService: true, ENABLE_OVN_LB_PREFER_LOCAL: true } },
      beforeChart: defineMultiNetworkPolicy,
    },
  )
  example = readExample('01-two-subnets', cluster.stack)
  await applyAll(cluster.api, example)
  shop = await untilPodsReady(cluster.api, 'shop', 'app=web', 3)
  stock = await untilPodsReady(cluster.api, 'stock', 'app=db', 3)
})

beforeEach(() => leaveBundleOnFailure(cluster.evidence))

refuseUnexplainedRows(() => cluster.unexplainedRows())

afterAll(async () => {
  await deleteAll(cluster.api, example)
  await cluster[Symbol.asyncDispose]()
})

interface SubnetObject extends ApiObject {
  readonly spec: { readonly cidrBlock: string }
}

interface IpObject extends ApiObject {
  readonly spec: { readonly ipAddress: string; readonly namespace: string; readonly podName: string }
}

it('gives every pod addresses of its namespace’s Subnet, one for each family', async () => {
  for (const pod of [...shop, ...stock]) {
    const subnet = await cluster.api.call<SubnetObject>(
      'GET',
      `/apis/kubeovn.io/v1/subnets/${pod.metadata.namespace ?? ''}`,
    )
    const cidrs = subnet.spec.cidrBlock.split(',')
    const addresses = addressesOfPod(pod)
    expect(addresses).toHaveLength(cidrs.length)
    expect(addresses.filter((address) => !isWithin(address, cidrs))).toEqual([])
  }
  expect(new Set([...shop, ...stock].flatMap(addressesOfPod)).size).toBe(
    [...shop, ...stock].flatMap(addressesOfPod).length,
  )
})

function isWithin(address: string, cidrs: readonly string[]): boolean {
  const ranges = new BlockList()
  for (const cidr of cidrs) {
    const [prefix = '', length] = cidr.split('/')
    ranges.addSubnet(prefix, Number(length), isIP(prefix) === 6 ? 'ipv6' : 'ipv4')
  }
  return ranges.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

it('records every address in an IP', async () => {
  const pods = [...shop, ...stock]
  const recorded = async () => {
    const ips = await cluster.api.list<IpObject>('/apis/kubeovn.io/v1/ips')
    return pods.map((pod) =>
      ips
        .find(({ spec }) => spec.podName === pod.metadata.name && spec.namespace === pod.metadata.namespace)
        ?.spec.ipAddress.split(','),
    )
  }
  await expect.poll(recorded, { timeout: 60_000 }).toEqual(pods.map(addressesOfPod))
})

it('lets every pod of one Subnet fetch from every pod, over every family', async () => {
  const pairs = shop.flatMap((from) =>
    [...shop, ...stock]
      .filter((to) => to !== from)
      .flatMap((to) => addressesOfPod(to).map((address) => ({ from, to, address }))),
  )
  expect(pairs.length).toBeGreaterThanOrEqual(15)
  // Pods are Ready by flows of their own node; those of others follow.
  let left = pairs
  const unserved = async (): Promise<readonly string[]> => {
    const answers = await Promise.all(
      left.map(async (pair) => ({
        pair,
        page: await fetchFrom(cluster, pair.from, pair.address).catch((error: unknown) => String(error)),
      })),
    )
    const wrong = answers.filter(({ pair, page }) => page.trim() !== pair.to.metadata.name)
    left = wrong.map(({ pair }) => pair)
    return wrong.map(({ pair, page }) => `${pair.from.metadata.name} at ${pair.address}: ${page.trim()}`)
  }
  await expect.poll(unserved, { timeout: 180_000, interval: 200 }).toEqual([])
})

it('resolves a Service and reaches it', async () => {
  const [from] = stock
  if (from === undefined) return expect.unreachable()
  const page = await eventually('the Service answers', () =>
    fetchFrom(cluster, from, 'web.shop.svc', 80).catch(() => undefined),
  )
  expect(shop.map(({ metadata }) => metadata.name)).toContain(page.trim())
})

it('has a check for every other example', () => {
  expect(['01-two-subnets', ...Object.keys(exampleChecks)]).toEqual(listExamples())
})

it.for(Object.entries(exampleChecks))(
  'does what %s says',
  { timeout: 900_000 },
  async ([name, check], { skip }) => {
    const objects = readExample(name, cluster.stack)
    for (const [kind, { path, cure }] of Object.entries(foreignKinds))
      if (objects.some((object) => object.kind === kind) && !(await isServed(path)))
        skip(`the cluster knows no ${kind}: ${cure}`)
    const needsTrunk = objects.some(({ kind }) => kind === 'ProviderNetwork')
    if (needsTrunk && givenKubeconfig !== undefined)
      skip('only nodes of a lab are known to have a NIC of that name on a physical network')
    try {
      await applyAll(cluster.api, objects)
      await check(cluster, objects)
      expect(await cluster.unexplainedRows(), 'rows that are of no object').toEqual([])
    } finally {
      await deleteAll(cluster.api, objects)
    }
  },
)

/** Kinds of others, which a given cluster may lack. */
const foreignKinds = {
  NetworkAttachmentDefinition: {
    path: '/apis/k8s.cni.cncf.io/v1/network-attachment-definitions',
    cure: 'install Multus',
  },
  MultiNetworkPolicy: {
    path: '/apis/k8s.cni.cncf.io/v1beta1/multi-networkpolicies',
    cure: 'install the definition of MultiNetworkPolicy',
  },
  AdminNetworkPolicy: {
    path: '/apis/policy.networking.k8s.io/v1alpha1/adminnetworkpolicies',
    cure: 'install the network policy API',
  },
  ClusterNetworkPolicy: {
    path: '/apis/policy.networking.k8s.io/v1alpha2/clusternetworkpolicies',
    cure: 'install the network policy API',
  },
}

async function isServed(path: string): Promise<boolean> {
  try {
    await cluster.api.list(path)
    return true
  } catch (error) {
    if (error instanceof ApiError && error.details.status === 404) return false
    throw error
  }
}

it('gives addresses back when pods go', async () => {
  await deleteAll(cluster.api, example)
  const left = await eventually('the pods’ IPs are gone', async () => {
    const ips = await cluster.api.list<IpObject>('/apis/kubeovn.io/v1/ips')
    const ours = ips.filter(({ spec }) => ['shop', 'stock'].includes(spec.namespace))
    return ours.length === 0 ? ours : undefined
  })
  expect(left).toEqual([])
})

import {
  applyAll,
  askHere,
  beTheWorld,
  deleteAll,
  eventually,
  namespaceOf,
  ofStack,
  placeOf,
  resolveAt,
  untilPodsReady,
  waitForObjects,
  worldAddress,
  type ApiObject,
  type Cluster,
  type ResolvedAddresses,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { during } from './claims.ts'
import { firstPort } from './people.ts'

const resolvers = '/apis/kubeovn.io/v1/dnsnameresolvers'
const name = 'mirror.stock.svc.cluster.local'
/** A name that stands for whatever somebody says it does: of a Service without pods. */
const mirror = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'mirror', namespace: 'stock' },
  spec: { clusterIP: 'None', ipFamilyPolicy: 'PreferDualStack', ports: [{ port: firstPort }] },
} as ApiObject

/** What the name server answers for the name from now on. */
function answering(addresses: readonly string[]): readonly ApiObject[] {
  const of = (family: number) => addresses.filter((address) => address.includes(':') === (family === 6))
  const given = [4, 6].filter((family) => of(family).length > 0)
  return given.map((family) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `mirror-ipv${family}`,
      namespace: 'stock',
      labels: { 'kubernetes.io/service-name': 'mirror' },
    },
    addressType: `IPv${family}`,
    endpoints: [{ addresses: of(family) }],
    ports: [{ port: firstPort, protocol: 'TCP' }],
  }))
}

/** A DNSNameResolver, as far as is looked at here. */
interface Resolver extends ApiObject {
  readonly spec: { readonly name: string }
}

/**
 * Notes answers in the resolver of a name, as CoreDNS' plugin does when a pod asks: that one is to be had as a container image alone.
 *
 * @param agoMs how long ago they were given
 */
async function note(
  { api }: Cluster,
  domain: string,
  given: readonly [ResolvedAddresses, number][],
): Promise<void> {
  const found = await waitForObjects<Resolver, Resolver>(
    api,
    resolvers,
    `a resolver of ${domain}`,
    (objects) => objects.find(({ spec }) => spec.name === domain),
  )
  const resolvedAddresses = given.flatMap(([addresses, agoMs]) =>
    addresses.map(({ address, ttl }) => ({
      ip: address,
      ttlSeconds: ttl,
      lastLookupTime: new Date(Date.now() - agoMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    })),
  )
  await api.mergePatch(`${resolvers}/${found.metadata.name}/status`, {
    status: { resolvedNames: [{ dnsName: `${name}.`, resolvedAddresses }] },
  })
}

/** A firewall of a namespace, and a policy for all of it, that let out to a domain and to nothing else outside. */
const firewall = {
  apiVersion: 'k8s.ovn.org/v1',
  kind: 'EgressFirewall',
  metadata: { name: 'default', namespace: 'shop' },
  spec: {
    egress: [
      { type: 'Allow', to: { dnsName: name } },
      ...['0.0.0.0/0', '::/0'].map((cidrSelector) => ({ type: 'Deny', to: { cidrSelector } })),
    ],
  },
} as ApiObject
const policy = {
  apiVersion: 'policy.networking.k8s.io/v1alpha1',
  kind: 'AdminNetworkPolicy',
  metadata: { name: 'mirrors' },
  spec: {
    priority: 20,
    subject: { namespaces: { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } } },
    egress: [
      { name: 'mirrors', action: 'Allow', to: [{ domainNames: ['*.stock.svc.cluster.local.'] }] },
      { name: 'cluster', action: 'Pass', to: [{ namespaces: {} }] },
      { name: 'others', action: 'Deny', to: [{ networks: ['0.0.0.0/0', '::/0'] }] },
    ],
  },
} as ApiObject

/** The TTL of what is of the cluster, in the lab's CoreDNS. */
const mostSeconds = 5
/** Longer than an address counts that is not answered any more: its TTL and ten minutes. */
const longAgoMs = 11 * 60_000

/** Where pods may go by names, of which the lab's CoreDNS knows the addresses. */
export function domainNames(lab: () => Cluster): void {
  it.each([
    ['an EgressFirewall', firewall, `${name}.`],
    ['a wildcard of an AdminNetworkPolicy', policy, '*.stock.svc.cluster.local.'],
  ])('are let out by %s to what a name stands for, also when it moves', async (_, object, domain) => {
    const cluster = lab()
    const [pod] = await untilPodsReady(cluster.api, 'shop', 'app=web', 3)
    if (pod === undefined) return expect.unreachable()
    const { stack } = cluster.topology
    const before = ofStack(stack, cluster.outside.addresses)
    const after = ofStack(stack, worldAddress)
    await using _world = await beTheWorld(cluster)
    const reached = async (): Promise<readonly string[]> => {
      const outcomes = await askHere(
        [...before, ...after].map((target) => ({
          ...{ netns: namespaceOf(placeOf(cluster, pod)), target, port: firstPort, protocol: 'tcp' as const },
          ...{ isOurs: true, timeoutMs: 1500 },
          listeners: [
            {
              ...{ netns: namespaceOf(cluster.outside.place), address: target, port: firstPort },
              protocol: 'tcp' as const,
            },
          ],
        })),
      )
      return [...before, ...after].filter((_, index) => outcomes[index]?.kind === 'reached')
    }
    const untilReached = async (wanted: readonly string[]): Promise<void> => {
      let seen: readonly string[] = []
      await eventually('what is reached is what is wanted', async () => {
        seen = await reached()
        return seen.join() === wanted.join() || undefined
      }).catch(() => undefined)
      expect(seen).toEqual(wanted)
    }
    const untilAnswered = (wanted: readonly string[]): Promise<ResolvedAddresses> =>
      eventually(`the name stands for ${wanted.join()}`, async () => {
        const given = await resolveAt(placeOf(cluster, pod), name, stack).catch(() => [])
        return given.map(({ address }) => address).join() === wanted.join() ? given : undefined
      })
    await untilReached([...before, ...after])
    await applyAll(cluster.api, [mirror, ...answering(before)])
    try {
      await during(cluster, [object], async () => {
        await untilReached([])
        const given = await untilAnswered(before)
        expect(Math.max(...given.map(({ ttl }) => ttl))).toBeLessThanOrEqual(mostSeconds)
        await note(cluster, domain, [[given, 0]])
        await untilReached(before)
        await applyAll(cluster.api, answering(after))
        const moved = await untilAnswered(after)
        await note(cluster, domain, [
          [given, 0],
          [moved, 0],
        ])
        await untilReached([...before, ...after])
        await note(cluster, domain, [
          [given, longAgoMs],
          [moved, 0],
        ])
        await untilReached(after)
        // Nobody can be asked any more, and nothing changes by that.
        await deleteAll(cluster.api, answering(after))
        await note(cluster, domain, [[moved, longAgoMs]])
        await untilReached(after)
      })
    } finally {
      await deleteAll(cluster.api, [...answering(before), mirror])
    }
    await untilReached([...before, ...after])
  })
}

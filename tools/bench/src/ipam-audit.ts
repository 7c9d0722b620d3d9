import { podAnnotations } from '@kube-ovn/annotations'
import { createWorld, deriveTables, Stores, watched } from '@kube-ovn/domains-control'
import { AddressAudit, auditAddresses, auditSteps } from '@kube-ovn/domains-control/address-audit'
import { restoreWorld } from '@kube-ovn/domains-control/restore'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { chartDefinitions, controlSettings } from '@kube-ovn/domains-control/testing/settings'
import { cidrOf, formatIp, formatMac, offsetIp, parseIpv4, parseIpv6 } from '@kube-ovn/ip'
import { IndexedStore, objectKey } from '@kube-ovn/kube'
import type { KubeObject, Store } from '@kube-ovn/kube'
import type { Ip, Subnet } from '@kube-ovn/kube-api'
import type { Pod } from '@kube-ovn/kube-api/core'
import { silentLogger } from '@kube-ovn/log'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { systemClock } from '@kube-ovn/process'
import { Signals } from '@kube-ovn/reconcile'
import { ip, pod, subnet } from '@kube-ovn/testing-builders'
import type { AuditOutcome } from '@kube-ovn/telemetry'
import type { Cache } from 'ovsdb-client'

const podCount = 10_000
const subnetName = 'ovn-default'

interface PodFacts {
  readonly name: string
  readonly port: string
  readonly v4: string
  readonly v6: string
  readonly mac: string
}

/** What an audit of 10,000 dual-stack pods takes: all of its slices together, and the longest of them. */
export async function auditCost(): Promise<{ readonly auditMs: number; readonly auditSliceMs: number }> {
  const world = worldOf(Array.from({ length: podCount }, (_, index) => factsOf(index)))
  const ended = Promise.withResolvers<AuditOutcome>()
  using audit = new AddressAudit({
    steps: () => auditSteps(world),
    clock: systemClock,
    log: silentLogger,
    metrics: {
      audited: ended.resolve,
      failed: () => ended.reject(new Error('failed')),
      ended: () => undefined,
    },
    intervalMs: 0,
  })
  audit.start()
  const { workMs, longestSliceMs } = await ended.promise
  if (world.ipam.size !== podCount || auditAddresses(world).length > 0)
    throw new Error('the addresses are not what they should be')
  return { auditMs: workMs, auditSliceMs: longestSliceMs }
}

function factsOf(index: number): PodFacts {
  const name = `pod-${index}`
  return {
    name,
    port: `${name}.shop`,
    v4: formatIp(offsetIp(parseIpv4('10.16.0.0'), index + 2)),
    v6: formatIp(offsetIp(parseIpv6('fd00:10:16::'), index + 2)),
    mac: formatMac(Uint8Array.of(2, 0, 0, 0, index >> 8, index & 255)),
  }
}

function worldOf(facts: readonly PodFacts[]): ControlWorld {
  const keys = podAnnotations()
  const pods = new IndexedStore<Pod>(watched.pods.indexes)
  const subnets = new IndexedStore<Subnet>(watched.subnets.indexes)
  const ips = new IndexedStore<Ip>(watched.ips.indexes)
  const cidrs = [cidrOf(parseIpv4('10.16.0.0'), 16), cidrOf(parseIpv6('fd00:10:16::'), 112)]
  const cidrBlock = cidrs.map(({ address, prefixLength }) => `${formatIp(address)}/${prefixLength}`).join()
  subnets.put(subnetName, subnet({ name: subnetName, cidrBlock }))
  for (const { name, port, v4, v6, mac } of facts) {
    const annotations = {
      [keys.allocated.key]: 'true',
      [keys.ipAddress.key]: `${v4},${v6}`,
      [keys.macAddress.key]: mac,
      [keys.cidr.key]: cidrBlock,
      [keys.gateway.key]: '10.16.0.1,fd00:10:16::1',
      [keys.logicalSwitch.key]: subnetName,
    }
    const object = pod({ name, namespace: 'shop', node: 'n1', phase: 'Running', annotations })
    pods.put(objectKey(object), object)
    const addresses = { v4IpAddress: v4, v6IpAddress: v6, macAddress: mac }
    const of = { podName: name, namespace: 'shop', subnet: subnetName }
    ips.put(
      port,
      ip({ name: port, ...of, ...addresses, labels: { 'ovn.kubernetes.io/ip_reserved': 'false' } }),
    )
  }
  const signals = new Signals()
  const northbound = portsOf(facts)
  const randomBytes = (count: number) => new Uint8Array(count)
  const known: Readonly<Record<string, Store<KubeObject>>> = { pods, subnets, ips }
  const stores = new Stores(
    Object.entries(watched).map(([name, { resource, indexes }]) => [
      resource,
      known[name] ?? new IndexedStore(indexes as never),
    ]),
  )
  const settings = controlSettings()
  const derived = deriveTables({ settings, stores, northbound, logger: silentLogger, clock: systemClock })
  const world = createWorld({
    ...{ settings, definitions: chartDefinitions, stores, northbound, derived, signals },
    ...{ clock: systemClock, randomBytes },
  })
  restoreWorld(world, derived, silentLogger)
  return world
}

/** A cache with one switch and the ports of the pods. */
function portsOf(facts: readonly PodFacts[]): Cache<OvnNorthbound> {
  const tables = new Map<string, Map<string, object>>()
  const ports = facts.map(({ name, port, v4, v6, mac }): [string, object] => [
    port,
    {
      _uuid: port,
      name: port,
      addresses: [`${mac} ${v4} ${v6}`],
      external_ids: { vendor: 'kube-ovn', pod: `shop/${name}`, ls: subnetName },
    },
  ])
  tables.set('Logical_Switch_Port', new Map(ports))
  const row = { _uuid: subnetName, name: subnetName, ports: facts.map(({ port }) => port) }
  tables.set('Logical_Switch', new Map([[subnetName, row]]))
  const rows = <N extends keyof OvnNorthbound>(table: N) =>
    (tables.get(table) ?? new Map()) as ReadonlyMap<string, OvnNorthbound[N]>
  return {
    get: (table, uuid) => rows(table).get(uuid),
    find: () => [],
    scan: (table) => rows(table).values(),
    count: (table) => rows(table).size,
  }
}

import { randomBytes } from 'node:crypto'
import type { ControlSettings, ControlWorld } from '@kube-ovn/features-control'
import { formatMac } from '@kube-ovn/ip'
import { Ipam } from '@kube-ovn/ipam'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { systemClock } from '@kube-ovn/process'
import type { Signals } from '@kube-ovn/reconcile'
import type { Cache } from 'ovsdb-client'
import type { Informers } from './informers.ts'

export interface WorldOptions {
  readonly settings: ControlSettings
  readonly informers: Informers
  readonly northbound: Cache<OvnNorthbound>
  readonly signals: Signals
}

/** Joins caches, settings and allocations into what the features look at. */
export function createWorld({ settings, informers, northbound, signals }: WorldOptions): ControlWorld {
  return {
    settings,
    pods: informers.pods.store,
    nodes: informers.nodes.store,
    namespaces: informers.namespaces.store,
    subnets: informers.subnets.store,
    vpcs: informers.vpcs.store,
    ips: informers.ips.store,
    northbound,
    ipam: new Ipam(randomBytes),
    networks: new Map(),
    routerMacs: new Map(),
    newMac: randomMac,
    now: () => systemClock.now(),
    raise: (signal, subject) => signals.raise(signal, subject),
  }
}

/** A copy in which observing leaves no traces, for plans that are not carried out. */
export function forkWorld(world: ControlWorld): ControlWorld {
  return {
    ...world,
    ipam: world.ipam.fork(),
    networks: new Map(world.networks),
    routerMacs: new Map(world.routerMacs),
    raise: () => undefined,
  }
}

/** Locally administered and unicast (RFC 7042, section 2.1). */
function randomMac(): string {
  const bytes = randomBytes(6)
  bytes[0] = ((bytes[0] ?? 0) | 0x02) & 0xfe
  return formatMac(bytes)
}

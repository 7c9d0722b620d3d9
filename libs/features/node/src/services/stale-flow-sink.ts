import { nothingToDo, type Sink, type SinkKind, type SinkPlan, type Wanted } from '@kube-ovn/fragments'
import { contains, parseCidr, parseIp } from '@kube-ovn/ip'
import type { Netfilter } from '@kube-ovn/netfilter'
import type { Flow, FlowEnd, Flows } from '@kube-ovn/netlink'
import { servicesTable, type ServicesSnapshot } from './desired.ts'

/** Where flows of UDP may be: what goes elsewhere does so because its backend, or its Service, is gone. */
export interface FlowFrontends {
  /** Backends that serve, by `address:port`. */
  readonly byAddress: Readonly<Record<string, readonly string[]>>
  /** Backends by the port of the node, of both families. */
  readonly byNodePort: Readonly<Record<string, readonly string[]>>
  /** Prefixes of Service addresses. */
  readonly services: readonly string[]
  /** All addresses of the node: a port of the node is one of each. */
  readonly local: readonly string[]
  /** Addresses of Services that another proxy leads to backends. */
  readonly others: readonly string[]
}

/**
 * Lists where flows of UDP may be: with whoever serves, also while he ends, or is far, or a policy says otherwise by now. That is about new ones, as
 * it is about new connections of TCP.
 */
export function flowFrontends(
  { plans, services }: ServicesSnapshot,
  addresses: Pick<FlowFrontends, 'local' | 'others'>,
): FlowFrontends {
  const byAddress: Record<string, readonly string[]> = {}
  const byNodePort: Record<string, readonly string[]> = {}
  const ports = plans.map((plan) => plan.port).filter(({ protocol }) => protocol === 'udp')
  // They are led to before any others are.
  for (const { clusterIps, port, held } of ports)
    for (const address of clusterIps) byAddress[endText({ address, port })] ??= held
  for (const { externalIps, port, nodePort, held } of ports) {
    for (const address of externalIps) byAddress[endText({ address, port })] ??= held
    if (nodePort !== undefined) byNodePort[nodePort] = [...(byNodePort[nodePort] ?? []), ...held]
  }
  return { byAddress, byNodePort, services, ...addresses }
}

/** Whether a flow leads to where nobody of its Service is any more. */
function isStale({ destination, answeredBy }: Flow, frontends: FlowFrontends): boolean {
  const sent = endText(destination)
  const came = endText(answeredBy)
  const backends = frontends.byAddress[sent]
  if (backends !== undefined) return !backends.includes(came)
  if (frontends.others.includes(destination.address)) return false
  const ip = parseIp(destination.address)
  if (frontends.services.some((prefix) => contains(parseCidr(prefix), ip))) return true
  const ofNode = frontends.byNodePort[destination.port]
  if (ofNode === undefined || !frontends.local.includes(destination.address)) return false
  return !ofNode.includes(came)
}

function endText({ address, port }: FlowEnd): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

const udp = 'udp'

/** Flows of UDP that Services had. A client that goes on sending would keep one with a backend that is gone for ever. */
export const staleFlows: SinkKind<FlowFrontends> = {
  name: 'stale-flows',
  targets: () => [udp],
  validate: () => undefined,
}

/**
 * Forgets flows whose backend is gone: their next packet is led to another one.
 *
 * They are looked at when backends have changed, and once more when the packet filter has: one may have come by the old one in between.
 */
export class StaleFlowSink implements Sink<FlowFrontends> {
  readonly kind = staleFlows
  readonly #flows: Flows
  readonly #netfilter: Pick<Netfilter, 'watch'>
  #last: FlowFrontends | undefined
  #looksLeft = 0

  constructor(flows: Flows, netfilter: Pick<Netfilter, 'watch'>) {
    this.#flows = flows
    this.#netfilter = netfilter
  }

  plan(_target: string, { claims: [claim] }: Wanted<FlowFrontends>): SinkPlan {
    if (claim === undefined) return nothingToDo
    const { fragment } = claim
    if (fragment !== this.#last) {
      this.#last = fragment
      this.#looksLeft = 2
    }
    if (this.#looksLeft === 0) return nothingToDo
    const stale = this.#flows.listUdp().filter((flow) => isStale(flow, fragment))
    // One that failed was none, and is made up for.
    this.#looksLeft -= 1
    if (stale.length === 0) return nothingToDo
    return {
      changes: stale.map(({ destination }) => `no flow to ${endText(destination)}`),
      carryOut: () => {
        try {
          for (const flow of stale) this.#flows.forget(flow)
        } catch (error) {
          if (fragment === this.#last) this.#looksLeft += 1
          throw error
        }
      },
    }
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    return this.#netfilter.watch((event) => {
      if (event.kind === 'resync' || event.table.name === servicesTable.name) listener(udp)
    })
  }
}

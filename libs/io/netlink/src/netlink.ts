import { closeSync } from 'node:fs'
import {
  addressType,
  encodeAddressList,
  encodeAddressRemoval,
  encodeAddressRequest,
  parseAddress,
} from './address-message.ts'
import { LinkNotFoundError, NetlinkError, netlinkError } from './errors.ts'
import {
  encodeBridge,
  encodeLinkChange,
  encodeLinkList,
  encodeLinkQuery,
  encodeLinkRemoval,
  encodeVeth,
  encodeVlan,
  linkType,
  parseLink,
} from './link-message.ts'
import { requestFlag } from './message.ts'
import { openMulticast } from './multicast.ts'
import { inNamespace, openNamespace } from './namespace.ts'
import {
  encodeNeighbour,
  encodeNeighbourList,
  encodeNeighbourRemoval,
  encodeNeighbourUse,
  neighbourType,
  parseNeighbour,
} from './neighbour-message.ts'
import { sendFrames, sendOperation } from './packet.ts'
import { readOffload, switchTxChecksumOff } from './offload.ts'
import {
  completeRoute,
  describeRoute,
  encodeRoute,
  encodeRouteList,
  isSameRoute,
  parseRoute,
  routeMessageType,
} from './route-message.ts'
import {
  completeRule,
  describeRule,
  encodeRule,
  encodeRuleList,
  isSameRule,
  parseRule,
  ruleMessageType,
} from './rule-message.ts'
import { RoutingSocket, routingProtocol } from './socket.ts'
import type * as api from './types.ts'
import { groupMask, toEvent } from './watch.ts'

const resync = { kind: 'resync' } as const

/** Makes a new object, and fails if there is one. */
const createFlags = requestFlag.create | requestFlag.exclusive
/** Makes an object, or changes the one that is there. */
const replaceFlags = requestFlag.create | requestFlag.replace

/** Opens a routing socket in this process's network namespace, or in another one. */
export function openNetlink(options: api.NetlinkOptions = {}): api.Netlink {
  const { netns, refuse } = options
  return new KernelNetlink(
    netns === undefined ? new RoutingSocket(refuse) : inNamespace(netns, () => new RoutingSocket(refuse)),
  )
}

/** Tells of changes, as `Netlink.watch` does. In the own namespace it takes no capability. */
export function watchNetlink(
  selection: api.WatchSelection,
  listener: (event: api.NetlinkEvent) => void,
  options: api.WatchOptions & { readonly netns?: api.NamespaceReference } = {},
): api.Watch {
  return openMulticast(
    { ...options, protocol: routingProtocol, groupMask: groupMask(selection) },
    (arrival) => {
      const event = arrival.kind === 'overrun' ? resync : toEvent(arrival.message)
      if (event !== undefined) listener(event)
    },
  )
}

class KernelNetlink implements api.Netlink {
  readonly #socket: RoutingSocket

  constructor(socket: RoutingSocket) {
    this.#socket = socket
  }

  [Symbol.dispose](): void {
    this.#socket[Symbol.dispose]()
  }

  links(): api.LinkInfo[] {
    return this.#socket
      .list({
        type: linkType.get,
        body: encodeLinkList(),
        operation: 'link list',
        subject: 'all',
      })
      .map(({ body }) => parseLink(body))
  }

  link(nameOrIndex: string | number): api.LinkInfo | undefined {
    try {
      const [reply] = this.#socket.request({
        type: linkType.get,
        body: encodeLinkQuery(nameOrIndex),
        operation: 'link get',
        subject: String(nameOrIndex),
      })
      return reply === undefined ? undefined : parseLink(reply.body)
    } catch (error) {
      if (error instanceof LinkNotFoundError) return undefined
      throw error
    }
  }

  createVeth(request: api.VethRequest): api.LinkInfo {
    withNamespace(request.peer.netns, (netns) => this.#createLink(request.name, encodeVeth(request, netns)))
    const made = this.#made(request.name)
    if (request.alias === undefined) return made
    // The kernel ignores an alias in the request that creates.
    try {
      this.changeLink(made.index, { alias: request.alias })
    } catch (error) {
      this.removeLink(made.index)
      throw error
    }
    return { ...made, alias: request.alias }
  }

  createBridge(request: api.BridgeRequest): api.LinkInfo {
    this.#createLink(request.name, encodeBridge(request))
    return this.#made(request.name)
  }

  createVlan(request: api.VlanRequest): api.LinkInfo {
    this.#createLink(request.name, encodeVlan(request))
    return this.#made(request.name)
  }

  changeLink(index: number, change: api.LinkChange): void {
    withNamespace(change.netns, (netns) =>
      this.#socket.request({
        type: linkType.created,
        body: encodeLinkChange(index, change, netns),
        operation: 'link set',
        subject: String(index),
      }),
    )
  }

  removeLink(index: number): void {
    tolerate(['ENODEV'], () =>
      this.#socket.request({
        type: linkType.removed,
        body: encodeLinkRemoval(index),
        operation: 'link delete',
        subject: String(index),
      }),
    )
  }

  addresses(index = 0): api.AddressInfo[] {
    return (
      tolerate(['ENODEV'], () =>
        this.#socket
          .list({
            type: addressType.get,
            body: encodeAddressList(index),
            operation: 'address list',
            subject: index === 0 ? 'all' : String(index),
          })
          .map(({ body }) => parseAddress(body))
          .filter((address) => address !== undefined),
      ) ?? []
    )
  }

  addAddress(index: number, cidr: string, options: api.AddressRequest = {}): void {
    this.#socket.request({
      type: addressType.created,
      flags: replaceFlags,
      body: encodeAddressRequest(index, cidr, options),
      operation: 'address replace',
      subject: `${cidr} on ${index}`,
    })
  }

  removeAddress(index: number, cidr: string): void {
    tolerate(['EADDRNOTAVAIL', 'ENODEV'], () =>
      this.#socket.request({
        type: addressType.removed,
        body: encodeAddressRemoval(index, cidr),
        operation: 'address delete',
        subject: `${cidr} on ${index}`,
      }),
    )
  }

  routes(filter: api.RouteFilter = {}): api.Route[] {
    const families: readonly api.Family[] = filter.family === undefined ? ['ipv4', 'ipv6'] : [filter.family]
    return families.flatMap((family) => this.#routesOf(family, filter))
  }

  replaceRoute(request: api.RouteRequest): void {
    this.#socket.request({
      type: routeMessageType.created,
      flags: replaceFlags,
      body: encodeRoute(completeRoute(request)),
      operation: 'route replace',
      subject: describeRoute(request),
    })
  }

  removeRoute(request: api.RouteRequest): void {
    const route = completeRoute(request)
    // A request to delete cannot say "metric 0": the kernel takes it as any metric, and another route would go.
    if (route.metric === 0 && !this.#routesOf(route.family, { table: route.table }).some(isRoute(route)))
      return
    tolerate(['ESRCH', 'ENODEV'], () =>
      this.#socket.request({
        type: routeMessageType.removed,
        body: encodeRoute(route),
        operation: 'route delete',
        subject: describeRoute(request),
      }),
    )
  }

  rules(family?: api.Family): api.Rule[] {
    const families: readonly api.Family[] = family === undefined ? ['ipv4', 'ipv6'] : [family]
    return families.flatMap((one) =>
      this.#socket
        .list({ type: ruleMessageType.get, body: encodeRuleList(one), operation: 'rule list', subject: one })
        .map(({ body }) => parseRule(body))
        .filter((rule) => rule !== undefined)
        .filter((rule) => rule.family === one),
    )
  }

  addRule(request: api.RuleRequest): void {
    tolerate(['EEXIST'], () =>
      this.#socket.request({
        type: ruleMessageType.created,
        flags: createFlags,
        body: encodeRule(completeRule(request)),
        operation: 'rule add',
        subject: describeRule(request),
      }),
    )
  }

  removeRule(request: api.RuleRequest): void {
    const rule = completeRule(request)
    // What a request to delete leaves out, the kernel takes as anything; so only one that is there exactly may go.
    if (!this.rules(rule.family).some((listed) => isSameRule(listed, rule))) return
    tolerate(['ENOENT'], () =>
      this.#socket.request({
        type: ruleMessageType.removed,
        body: encodeRule(rule),
        operation: 'rule delete',
        subject: describeRule(request),
      }),
    )
  }

  neighbours(index?: number): api.NeighbourInfo[] {
    return [false, true]
      .flatMap((proxies) =>
        this.#socket.list({
          type: neighbourType.get,
          body: encodeNeighbourList(proxies),
          operation: 'neighbour list',
          subject: proxies ? 'proxies' : 'all',
        }),
      )
      .map(({ body }) => parseNeighbour(body))
      .filter((neighbour) => neighbour !== undefined)
      .filter((neighbour) => index === undefined || neighbour.index === index)
  }

  replaceNeighbour(request: api.NeighbourRequest): void {
    this.#socket.request({
      type: neighbourType.created,
      flags: replaceFlags,
      body: encodeNeighbour(request),
      operation: 'neighbour replace',
      subject: `${request.address} on ${request.index}`,
    })
  }

  resolveNeighbour(index: number, address: string): void {
    this.#socket.request({
      type: neighbourType.created,
      flags: replaceFlags,
      body: encodeNeighbourUse(index, address),
      operation: 'neighbour use',
      subject: `${address} on ${index}`,
    })
  }

  removeNeighbour(index: number, address: string, options: { readonly isProxy?: boolean } = {}): void {
    tolerate(['ENOENT', 'ENODEV'], () =>
      this.#socket.request({
        type: neighbourType.removed,
        body: encodeNeighbourRemoval(index, address, options.isProxy ?? false),
        operation: 'neighbour delete',
        subject: `${address} on ${index}`,
      }),
    )
  }

  offload(name: string): api.OffloadState | undefined {
    return readOffload(this.#socket.descriptor, name)
  }

  disableTxChecksumOffload(name: string): boolean {
    return switchTxChecksumOff(this.#socket.descriptor, name)
  }

  sendFrames(index: number, frames: readonly Buffer[]): void {
    this.#socket.requireNotRefused({ operation: sendOperation, subject: String(index) })
    const netns = this.#socket.openNamespace()
    try {
      inNamespace(netns, () => sendFrames(index, frames))
    } finally {
      closeSync(netns)
    }
  }

  watch(
    selection: api.WatchSelection,
    listener: (event: api.NetlinkEvent) => void,
    options: api.WatchOptions = {},
  ): api.Watch {
    const netns = this.#socket.openNamespace()
    try {
      return watchNetlink(selection, listener, { ...options, netns })
    } finally {
      closeSync(netns)
    }
  }

  #createLink(name: string, body: Buffer): void {
    this.#socket.request({
      type: linkType.created,
      flags: createFlags,
      body,
      operation: 'link add',
      subject: name,
    })
  }

  #made(name: string): api.LinkInfo {
    const made = this.link(name)
    if (made === undefined) throw netlinkError({ operation: 'link add', subject: name, errno: 'ENODEV' })
    return made
  }

  #routesOf(family: api.Family, filter: api.RouteFilter): api.Route[] {
    // A table that was never used does not exist.
    const listed = tolerate(['ENOENT', 'ENODEV'], () =>
      this.#socket.list({
        type: routeMessageType.get,
        body: encodeRouteList(family, filter),
        operation: 'route list',
        subject: family,
      }),
    )
    return (listed ?? [])
      .map(({ body }) => parseRoute(body))
      .filter((route) => route !== undefined)
      .filter(
        (route) =>
          route.family === family &&
          (filter.table === undefined || route.table === filter.table) &&
          (filter.protocol === undefined || route.protocol === filter.protocol) &&
          (filter.index === undefined ||
            route.index === filter.index ||
            (route.nextHops?.some((hop) => hop.index === filter.index) ?? false)),
      )
  }
}

function isRoute(wanted: api.Route): (route: api.Route) => boolean {
  return (route) => isSameRoute(route, wanted)
}

/** Runs a request and takes some refusals as "nothing to do". */
function tolerate<T>(errnos: readonly string[], action: () => T): T | undefined {
  try {
    return action()
  } catch (error) {
    if (error instanceof NetlinkError && errnos.includes(error.details.errno)) return undefined
    throw error
  }
}

/** Gives an action an open descriptor of a namespace; one that is opened here is closed after. */
function withNamespace<T>(
  netns: api.NamespaceReference | undefined,
  action: (descriptor: number | undefined) => T,
): T {
  if (typeof netns !== 'string') return action(netns)
  const descriptor = openNamespace(netns)
  try {
    return action(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

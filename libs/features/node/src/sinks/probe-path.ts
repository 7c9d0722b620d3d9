import {
  nothingToDo,
  writeEach,
  type Sink,
  type SinkKind,
  type SinkPlan,
  type SysctlAccess,
  type Wanted,
} from '@kube-ovn/fragments'
import type {
  Family,
  LinkInfo,
  Netlink,
  NetlinkEvent,
  Route,
  RouteRequest,
  RuleRequest,
} from '@kube-ovn/netlink'
import { probeLinks, probeMark, probeRouteTable, probeSources } from '../kubelet-probes/desired.ts'

/** A pair of links by way of which the node reaches pods that no route leads to, with what leads marked packets there. */
export interface ProbePath {
  /** Not empty. */
  readonly families: readonly Family[]
}

export const probePath: SinkKind<ProbePath> = {
  name: 'probe-path',
  targets: () => [probeLinks.node],
  // The types say all.
  validate: () => undefined,
}

type HostAccess = Pick<
  Netlink,
  | 'link'
  | 'createVeth'
  | 'changeLink'
  | 'removeLink'
  | 'addresses'
  | 'addAddress'
  | 'routes'
  | 'replaceRoute'
  | 'rules'
  | 'addRule'
  | 'removeRule'
>

interface ProbePathSinkOptions {
  readonly host: HostAccess
  readonly sysctls: SysctlAccess
  /** Tells of links, addresses, routes and rules. */
  onEvent(listener: (event: NetlinkEvent) => void): Disposable
}

/** IFF_NOARP of linux/if.h. */
const noArp = 0x80

const families = ['ipv4', 'ipv6'] as const
const defaultRoutes = { ipv4: '0.0.0.0/0', ipv6: '::/0' } as const
const hostLength = { ipv4: 32, ipv6: 128 } as const

type Change = readonly [what: string, write: () => void]

/** Makes the pair of links, and takes it away when nobody needs it. */
export class ProbePathSink implements Sink<ProbePath> {
  readonly kind = probePath
  readonly #options: ProbePathSinkOptions

  constructor(options: ProbePathSinkOptions) {
    this.#options = options
  }

  plan(_target: string, { claims, isComplete }: Wanted<ProbePath>): SinkPlan {
    const { host } = this.#options
    const wanted = claims[0]?.fragment
    if (wanted === undefined && !isComplete) return nothingToDo
    const changes = wanted === undefined ? removalOf(host) : this.#changes(wanted)
    return { changes: changes.map(([what]) => what), carryOut: () => writeEach(changes) }
  }

  owned(): readonly string[] {
    return removalOf(this.#options.host).length > 0 ? [probeLinks.node] : []
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    return this.#options.onEvent((event) => {
      const isOurs =
        event.kind === 'resync' ||
        // Its coming and going is told as a link; its index is of no use any more.
        event.kind === 'address' ||
        (event.kind === 'link' &&
          (event.link.name === probeLinks.node || event.link.name === probeLinks.pods)) ||
        (event.kind === 'route' && event.route.table === probeRouteTable) ||
        (event.kind === 'rule' && event.rule.table === probeRouteTable)
      if (isOurs) listener(probeLinks.node)
    })
  }

  #changes(wanted: ProbePath): readonly Change[] {
    const { host, sysctls } = this.#options
    const link = host.link(probeLinks.node)
    const peer = host.link(probeLinks.pods)
    if (link === undefined || peer === undefined || link.linkIndex !== peer.index)
      // The rest follows when it is told that it is there.
      return [[`links ${probeLinks.node} and ${probeLinks.pods}`, () => makeLinks(host, [link, peer])]]
    const changes: Change[] = []
    const { index } = link
    const setting = `ipv4/conf/${probeLinks.node}/rp_filter`
    // No route leads back to pods.
    if (sysctls.readSysctl(setting) !== '0')
      changes.push([`${setting} = 0`, () => sysctls.writeSysctl(setting, '0')])
    if (link.mac !== probeLinks.mac)
      changes.push([`MAC ${probeLinks.mac}`, () => host.changeLink(index, { mac: probeLinks.mac })])
    if ((link.flags & noArp) === 0) changes.push(['no ARP', () => host.changeLink(index, { arp: false })])
    for (const one of [link, peer])
      if (!one.isUp) changes.push([`${one.name} up`, () => host.changeLink(one.index, { up: true })])
    const present = new Set(host.addresses(index).map(({ cidr }) => cidr))
    for (const family of wanted.families) {
      const cidr = `${probeSources[family]}/${hostLength[family]}`
      if (!present.has(cidr))
        changes.push([`address ${cidr}`, () => host.addAddress(index, cidr, { noDad: true })])
      const route: RouteRequest = {
        ...{ destination: defaultRoutes[family], index, table: probeRouteTable },
      }
      if (!host.routes({ table: probeRouteTable, family }).some((one) => isSame(one, route)))
        changes.push([`route by ${probeLinks.node}`, () => host.replaceRoute(route)])
      const rule = ruleOf(family)
      if (!host.rules(family).some((one) => one.table === rule.table && one.mark === rule.mark))
        changes.push([`rule for marked packets of ${family}`, () => host.addRule(rule)])
    }
    return changes
  }
}

/** Takes the path off the node: addresses and routes go with their link. */
export function removeProbePath(host: HostAccess): readonly string[] {
  const changes = removalOf(host)
  writeEach(changes)
  return changes.map(([what]) => what)
}

function removalOf(host: HostAccess): readonly Change[] {
  const links = [host.link(probeLinks.node), host.link(probeLinks.pods)]
  return [
    ...families.flatMap((family) =>
      host
        .rules(family)
        .filter(({ table, mark }) => table === probeRouteTable && mark === probeMark)
        .map((rule): Change => [`no rule for marked packets of ${family}`, () => host.removeRule(rule)]),
    ),
    ...links
      .filter((link) => link !== undefined)
      .map(({ name, index }): Change => [`no link ${name}`, () => host.removeLink(index)]),
  ]
}

/** What is there of a pair that is none goes first. */
function makeLinks(host: HostAccess, leftovers: readonly (LinkInfo | undefined)[]): void {
  for (const link of leftovers) if (link !== undefined) host.removeLink(link.index)
  host.createVeth({ name: probeLinks.node, mac: probeLinks.mac, peer: { name: probeLinks.pods } })
}

function ruleOf(family: Family): RuleRequest {
  const mark = { mark: probeMark, markMask: probeMark }
  return { family, priority: probeRouteTable, ...mark, table: probeRouteTable }
}

function isSame(route: Route, { destination, index }: RouteRequest): boolean {
  return route.destination === destination && route.index === index
}

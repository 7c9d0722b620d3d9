import type { KubeOvnError } from '@kube-ovn/errors'
import { familyOf, tryParseCidr, tryParseIp } from '@kube-ovn/ip'
import type {
  AddressInfo,
  Netlink,
  NetlinkEvent,
  Route,
  RouteRequest,
  Rule,
  RuleRequest,
} from '@kube-ovn/netlink'
import { FragmentConflictError, InvalidFragmentError, NextHopUnreachableError } from './errors.ts'
import type { Claim, Owner, Sink, SinkKind, SinkPlan, Wanted } from './sink.ts'
import { isNeighbour } from './route-plan.ts'
import { writeEach } from './write-each.ts'

/** Default routes of a table of their own, and who is routed by it. */
export interface PolicyRoutes {
  /** The Subnet that asks for it, and the field by which it does. */
  readonly subnet: string
  readonly field: string
  /** Number of the table, which nobody else uses. */
  readonly table: number
  /** Of the rules that lead to it. */
  readonly priority: number
  /** At most one of each family. */
  readonly gateways: readonly string[]
  /** Prefixes; those of a family without a gateway are routed as usual. */
  readonly sources: readonly string[]
}

/** Says who made a rule or a route: a number that neither linux/rtnetlink.h nor the rt_protos of iproute2 give to anybody. */
const ownProtocol = 107

const defaultRoutes = { ipv4: '0.0.0.0/0', ipv6: '::/0' } as const

export const policyRoutes: SinkKind<PolicyRoutes> = {
  name: 'policy-routes',
  targets: ({ table }) => [String(table)],
  validate({ table, gateways, sources }) {
    const field = `route table ${table}`
    const families = gateways.map((text) => {
      const ip = tryParseIp(text)
      return ip === undefined ? undefined : familyOf(ip)
    })
    const isUnusable = families.includes(undefined) || new Set(families).size < families.length
    const bad = isUnusable ? gateways.join() : sources.find((text) => tryParseCidr(text) === undefined)
    if (bad === undefined) return
    throw new InvalidFragmentError({ field, value: bad, cure: 'give a gateway of each family, and prefixes' })
  },
}

interface PolicyRouteSinkOptions {
  readonly host: Pick<
    Netlink,
    'addresses' | 'routes' | 'replaceRoute' | 'removeRoute' | 'rules' | 'addRule' | 'removeRule'
  >
  /** Tells of links, addresses, routes and rules. */
  onEvent(listener: (event: NetlinkEvent) => void): Disposable
}

/**
 * Writes rules and default routes of policy routing (ip-rule(8)). A family waits until its gateway is a neighbour, and says so: rules
 * that lead to an empty table would only be asked in vain.
 *
 * A rule that asks for the very same, whoever made it, is taken for ours.
 */
export class PolicyRouteSink implements Sink<PolicyRoutes> {
  readonly kind = policyRoutes
  readonly #options: PolicyRouteSinkOptions
  /** By target: indexes of the links by which its gateways are neighbours, none while it waits for one. */
  readonly #links = new Map<string, readonly number[]>()

  constructor(options: PolicyRouteSinkOptions) {
    this.#options = options
  }

  plan(target: string, { claims, isComplete }: Wanted<PolicyRoutes>): SinkPlan {
    const table = Number(target)
    const { host } = this.#options
    const [holder, ...rivals] = claims
    const wanted = holder?.fragment
    const addresses = wanted === undefined ? [] : host.addresses()
    const reachable = (wanted?.gateways ?? []).filter((gateway) => isNeighbour(gateway, addresses))
    const stray = (wanted?.gateways ?? []).filter((gateway) => !reachable.includes(gateway))
    if (wanted === undefined) this.#links.delete(target)
    else this.#links.set(target, linksTo(reachable, addresses))
    const rules = wanted === undefined ? [] : rulesOf(wanted, reachable)
    const families = new Set(rules.map(({ family }) => family))
    const routes = reachable
      .filter((gateway) => families.has(familyName(gateway)))
      .map((gateway): RouteRequest => ({
        ...{ destination: defaultRoutes[familyName(gateway)], gateway },
        ...{ table, protocol: ownProtocol },
      }))
    const found = host.rules().filter((rule) => rule.table === table)
    const present = host.routes({ table }).filter(({ type }) => type === 'unicast')
    const keys = new Set(found.map(keyOf))
    const wantedKeys = new Set(rules.map(keyOf))
    const newRules = rules.filter((rule) => !keys.has(keyOf(rule)))
    const newRoutes = routes.filter((route) => !present.some((one) => isEqual(one, route)))
    const gone = !isComplete
      ? []
      : found.filter((rule) => isOurs(rule, wanted) && !wantedKeys.has(keyOf(rule)))
    const goneRoutes = !isComplete
      ? []
      : present.filter(
          (route) =>
            route.protocol === ownProtocol &&
            !routes.some(({ destination }) => destination === route.destination),
        )
    const changes = [
      ...newRoutes.map((route) => [describeRoute(route), () => host.replaceRoute(route)] as const),
      ...newRules.map((rule) => [describe(rule), () => host.addRule(rule)] as const),
      ...gone.map((rule) => [`no ${describe(rule)}`, () => host.removeRule(rule)] as const),
      ...goneRoutes.map((route) => [`no ${describeRoute(route)}`, () => host.removeRoute(route)] as const),
    ]
    return {
      changes: changes.map(([what]) => what),
      refused: refusalsOf(table, holder, stray, rivals),
      isWaiting: stray.length > 0,
      carryOut: () => writeEach(changes),
    }
  }

  owned(): readonly string[] {
    const { host } = this.#options
    const tables = [...host.rules(), ...host.routes({ protocol: ownProtocol })]
      .filter(({ protocol }) => protocol === ownProtocol)
      .map(({ table }) => String(table))
    return [...new Set(tables)]
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    return this.#options.onEvent((event) => {
      if (event.kind === 'resync') listener(undefined)
      else if (event.kind === 'rule') listener(String(event.rule.table))
      else if (event.kind === 'route') listener(String(event.route.table))
      // Linux tells of no IPv4 route that goes with its link, or with the last address of that.
      else if (event.kind === 'address') for (const target of this.#links.keys()) listener(target)
      else if (event.kind === 'link') {
        const { index } = event.link
        for (const [target, links] of this.#links) if (links.includes(index)) listener(target)
      }
    })
  }
}

function linksTo(
  gateways: readonly string[],
  addresses: readonly Pick<AddressInfo, 'cidr' | 'index'>[],
): readonly number[] {
  const near = addresses.filter((address) => gateways.some((gateway) => isNeighbour(gateway, [address])))
  return near.map(({ index }) => index)
}

function familyName(text: string): 'ipv4' | 'ipv6' {
  return text.includes(':') ? 'ipv6' : 'ipv4'
}

function rulesOf(
  { table, priority, sources }: PolicyRoutes,
  gateways: readonly string[],
): readonly RuleRequest[] {
  const families = new Set(gateways.map(familyName))
  return [...new Set(sources)]
    .filter((from) => families.has(familyName(from)))
    .map((from) => ({ family: familyName(from), priority, from, table, protocol: ownProtocol }))
}

/** Two rules of one key are asked at once, and lead to the same. */
function keyOf({
  family,
  priority,
  from = '',
  to,
  mark,
  inputInterface,
  outputInterface,
  not,
}: RuleRequest): string {
  return JSON.stringify([family, priority, from, to, mark, inputInterface, outputInterface, not === true])
}

/** Of an earlier release, whose mark was another one, too: table and priority are the user's, for this and nothing else. */
function isOurs(rule: Rule, wanted: PolicyRoutes | undefined): boolean {
  return rule.protocol === ownProtocol || (rule.priority === wanted?.priority && rule.from !== undefined)
}

/** A default route of somebody else's in a table that is a Subnet's is taken over when it leads to the same. */
function isEqual(route: Route, { destination, gateway }: RouteRequest): boolean {
  return route.destination === destination && route.gateway === gateway
}

function refusalsOf(
  table: number,
  holder: Claim<PolicyRoutes> | undefined,
  stray: readonly string[],
  rivals: Wanted<PolicyRoutes>['claims'],
): ReadonlyMap<Owner, KubeOvnError> {
  const refused = new Map<Owner, KubeOvnError>()
  if (holder !== undefined && stray.length > 0) {
    const { subnet, field } = holder.fragment
    const cure =
      'name a next hop in a network that the node has an address in, or give it one there; until then traffic leaves as without it'
    refused.set(holder.owner, new NextHopUnreachableError({ subnet, field, value: stray.join(), cure }))
  }
  for (const { owner, fragment } of rivals) {
    const details = { field: `route table ${table}`, value: fragment.gateways.join() }
    const cure = 'give it a table of its own'
    refused.set(owner, new FragmentConflictError({ ...details, holder: holder?.owner ?? '', cure }))
  }
  return refused
}

function describe({ from = 'all', priority, table }: RuleRequest): string {
  return `rule ${priority} from ${from} to table ${table ?? ''}`
}

function describeRoute({ destination, gateway, table }: RouteRequest): string {
  return `${destination} via ${gateway ?? ''} in table ${table ?? ''}`
}

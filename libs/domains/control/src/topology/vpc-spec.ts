import { refusalOf, type Refused } from '@kube-ovn/errors'
import {
  cidrOf,
  familyOf,
  formatIp,
  networkText,
  parseCidrList,
  parseIp,
  parseIpList,
  tryParseCidr,
  tryParseIp,
  type Cidr,
  type DualStackIp,
  type Family,
  type Ip,
} from '@kube-ovn/ip'
import { isExternalVpc } from '@kube-ovn/annotations'
import { isObjectName } from '@kube-ovn/kube-api/core'
import type { Vpc, VpcSpec } from '@kube-ovn/kube-api'
import type { LabelSelector } from '@kube-ovn/label-selector'
import { checkMatch } from '@kube-ovn/ovn-match'
import { VpcInvalidError } from './errors.ts'

/** What a part of a Vpc's specification says that can not be carried out; the rest of it is. */
export type VpcProblem = Refused

/** A static route of a VPC's router. */
export interface VpcRoute {
  /** Which address of a packet is compared with the prefix. */
  readonly policy: 'dst-ip' | 'src-ip'
  readonly cidr: Cidr
  /** The prefix as the row has it: without host bits, and without a length if the user wrote none. */
  readonly prefix: string
  readonly nextHop: Ip
  /** Empty is the main table. */
  readonly table: string
  /** Replies leave by the next hop by which the connection came in. */
  readonly isSymmetric: boolean
  /** It counts only as long as a BFD session with the next hop is up. */
  readonly isSupervised: boolean
  /** Where it stands in the specification. */
  readonly field: string
}

/** A policy of a VPC's router, which overrides routes. */
export interface VpcPolicy {
  /** Tells it from others: OVN takes any of those that have priority and match in common. */
  readonly key: string
  readonly priority: number
  readonly match: string
  readonly action: 'allow' | 'drop' | 'reroute'
  /** In their canonical text; none unless the action is `reroute`. */
  readonly nextHops: readonly string[]
}

/** A next hop of policies, and where it stands in the specification first. */
export interface PolicyHop {
  readonly nextHop: Ip
  readonly field: string
}

/** A connection to the router of another VPC. */
export interface VpcPeering {
  readonly remote: string
  /** Addresses of the port on this side, with the length of the prefix. */
  readonly networks: readonly Cidr[]
  readonly field: string
}

/** A port of the router that is but the source of BFD sessions. */
export interface BfdPortClaim {
  readonly addresses: DualStackIp
  /** Of nodes that may host it; absent when any may. */
  readonly selector: LabelSelector | undefined
}

/** What a Vpc asks for, without a look at others. */
export interface VpcClaim {
  readonly name: string
  /** Older ones are lower. */
  readonly age: string
  /** Its router is somebody else's, and only told of here. */
  readonly isExternal: boolean
  readonly isDeleting: boolean
  readonly namespaces: readonly string[]
  readonly defaultSubnet: string
  readonly routes: readonly VpcRoute[]
  readonly policies: readonly VpcPolicy[]
  /** Each next hop of policies once. */
  readonly policyHops: readonly PolicyHop[]
  readonly peerings: readonly VpcPeering[]
  /** It is to be connected to external subnets: these, or else the default one. */
  readonly enableExternal: boolean
  readonly extraExternals: readonly string[]
  /** Gateways of external subnets are asked whether they live, and nodes that offer a way out share it. */
  readonly enableBfd: boolean
  readonly bfdPort: BfdPortClaim | undefined
  readonly problems: readonly VpcProblem[]
}

/** Of a claim what is looked at beside others: nobody goes by its policies but the router. */
export type SharedClaim = Omit<VpcClaim, 'policies' | 'policyHops'>

/** Reads a Vpc part by part: what can not be used is a problem, and the rest is as if that were not there. */
export function claimOf({ metadata, spec = {} }: Vpc): VpcClaim {
  const { name, creationTimestamp = '', deletionTimestamp, labels } = metadata
  const routes = readAll(spec.staticRoutes, 'spec.staticRoutes', readRoute, routeKey)
  const policies = readAll(spec.policyRoutes, 'spec.policyRoutes', readPolicy, ({ key }) => key)
  const peerings = readAll(
    spec.vpcPeerings,
    'spec.vpcPeerings',
    (peering, field) => readPeering(name, peering, field()),
    ({ remote }) => remote,
  )
  const bfdPorts = readAll(
    spec.bfdPort?.enabled === true ? [spec.bfdPort] : [],
    'spec.bfdPort',
    readBfdPort,
    () => '',
  )
  return {
    name,
    age: `${creationTimestamp} ${name}`,
    isExternal: isExternalVpc(labels),
    isDeleting: deletionTimestamp !== undefined,
    namespaces: [...new Set(spec.namespaces)],
    defaultSubnet: spec.defaultSubnet ?? '',
    routes: routes.read,
    policies: policies.read,
    policyHops: hopsOf(policies),
    peerings: peerings.read,
    enableExternal: spec.enableExternal === true,
    extraExternals: [...new Set(spec.extraExternalSubnets)],
    enableBfd: spec.enableBfd === true,
    bfdPort: bfdPorts.read[0],
    problems: [...routes.problems, ...policies.problems, ...peerings.problems, ...bfdPorts.problems],
  }
}

/** Tells routes apart: those of one table, policy and prefix with different next hops share traffic. */
export function routeKey({
  table,
  policy,
  prefix,
  nextHop,
}: Pick<VpcRoute, 'table' | 'policy' | 'prefix' | 'nextHop'>): string {
  return `${table}/${policy}/${prefix}/${formatIp(nextHop)}`
}

function hopsOf({ read, fields }: Read<VpcPolicy>): readonly PolicyHop[] {
  const hops = new Map<string, number>()
  for (const [index, { nextHops }] of read.entries())
    for (const hop of nextHops) if (!hops.has(hop)) hops.set(hop, index)
  return Array.from(hops, ([hop, index]) => {
    const field = fields(index)
    return { nextHop: parseIp(hop, field), field }
  })
}

interface Read<T> {
  readonly read: readonly T[]
  /** Where each of them stands, by its place among them. */
  readonly fields: (index: number) => string
  readonly problems: readonly VpcProblem[]
}

/** A field is named only where somebody has to be told of it: there may be thousands of entries. */
function readAll<S, T>(
  entries: readonly S[] = [],
  list: string,
  read: (entry: S, field: () => string) => T,
  keyOf: (one: T) => string,
): Read<T> {
  const problems: VpcProblem[] = []
  const found: T[] = []
  const places: number[] = []
  const byKey = new Map<string, number>()
  const fieldAt = (place: number | undefined): string => `${list}[${place}]`
  for (const [place, entry] of entries.entries()) {
    const field = (): string => fieldAt(place)
    try {
      const one = read(entry, field)
      const key = keyOf(one)
      const known = byKey.get(key)
      if (known === undefined) {
        byKey.set(key, found.length)
        found.push(one)
        places.push(place)
      } else if (!isSame(found[known], one))
        throw refusing(field(), key, `remove it, or ${fieldAt(places[known])}, which is about the same`)
    } catch (error) {
      problems.push(refusalOf(error))
    }
  }
  return { read: found, fields: (index) => fieldAt(places[index]), problems }
}

/** Whether two say the same, wherever they stand. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one, contentOnly) === JSON.stringify(other, contentOnly)
}

/** Without the place; addresses of IPv6 are big numbers. */
function contentOnly(key: string, value: unknown): unknown {
  if (key === 'field') return undefined
  return typeof value === 'bigint' ? String(value) : value
}

function refusing(field: string, value: string, cure: string): VpcInvalidError {
  return new VpcInvalidError({ field, value, cure })
}

type Entry<K extends 'staticRoutes' | 'policyRoutes' | 'vpcPeerings'> = NonNullable<VpcSpec[K]>[number]

function readRoute(entry: Entry<'staticRoutes'>, at: () => string): VpcRoute {
  const {
    policy = '',
    cidr: text = '',
    nextHopIP = '',
    ecmpMode = '',
    routeTable: table = '',
    bfdId = '',
  } = entry
  if (policy !== '' && policy !== 'policyDst' && policy !== 'policySrc')
    throw refusing(`${at()}.policy`, policy, 'write policyDst or policySrc, or leave it empty for policyDst')
  const host = tryParseIp(text)
  const cidr = host === undefined ? tryParseCidr(text) : cidrOf(host, familyOf(host) === 4 ? 32 : 128)
  if (cidr === undefined)
    throw refusing(`${at()}.cidr`, text, 'write a prefix like 10.16.0.0/16, or an address')
  const field = at()
  const nextHop = parseIp(nextHopIP, `${field}.nextHopIP`)
  if (familyOf(nextHop) !== cidr.family)
    throw refusing(
      `${field}.nextHopIP`,
      nextHopIP,
      `write an IPv${cidr.family} address, as the prefix is one`,
    )
  if (ecmpMode !== '' && ecmpMode !== symmetric)
    throw refusing(`${field}.ecmpMode`, ecmpMode, `write ${symmetric}, or leave it empty`)
  return {
    policy: policy === 'policySrc' ? 'src-ip' : 'dst-ip',
    cidr,
    prefix: host === undefined ? networkText(cidr) : formatIp(host),
    nextHop,
    table,
    isSymmetric: ecmpMode === symmetric,
    isSupervised: bfdId !== '',
    field,
  }
}

const symmetric = 'ecmp_symmetric_reply'

const highestPriority = 32_767

interface PolicyEntry {
  readonly priority: number
  readonly match: string
  readonly action: string
  readonly nextHopIP: string
}

/** Policies by match and priority: of the thousands that a Vpc may have, an edit changes one, and a match takes long to read. */
const policiesRead = new Map<string, Map<number, KnownPolicy>>()
let remembered = 0
const mostRemembered = { policies: 10_000, characters: 1_000 } as const

interface KnownPolicy {
  readonly action: string
  readonly nextHopIP: string
  readonly policy: VpcPolicy
}

function readPolicy(entry: Entry<'policyRoutes'>, field: () => string): VpcPolicy {
  const { priority = 0, match = '', action = '', nextHopIP = '' } = entry
  const known = policiesRead.get(match)?.get(priority)
  if (known?.action === action && known.nextHopIP === nextHopIP) return known.policy
  const policy = readNewPolicy({ priority, match, action, nextHopIP }, field())
  if (match.length + nextHopIP.length > mostRemembered.characters) return policy
  if (remembered >= mostRemembered.policies) {
    policiesRead.clear()
    remembered = 0
  }
  if (known === undefined) remembered += 1
  policiesRead.getOrInsertComputed(match, () => new Map()).set(priority, { action, nextHopIP, policy })
  return policy
}

function readNewPolicy({ priority, match, action, nextHopIP }: PolicyEntry, field: string): VpcPolicy {
  if (priority < 0 || priority > highestPriority)
    throw refusing(`${field}.priority`, String(priority), `write 0 to ${highestPriority}`)
  checkMatch(match, `${field}.match`)
  if (action !== 'allow' && action !== 'drop' && action !== 'reroute')
    throw refusing(`${field}.action`, action, 'write allow, drop or reroute')
  const nextHops = action === 'reroute' ? readNextHops(nextHopIP, field) : []
  return { key: `${priority}/${match}`, priority, match, action, nextHops }
}

/** No router has more ways out, and OVN makes a flow of each. */
const mostNextHops = 256

function readNextHops(text: string, field: string): readonly string[] {
  const at = `${field}.nextHopIP`
  const words = text.split(',', mostNextHops + 1)
  if (words.length > mostNextHops) throw refusing(at, text, `write at most ${mostNextHops} addresses`)
  const hops = words.map((word) => parseIp(word.trim(), at))
  const families = new Set<Family>(hops.map((ip) => familyOf(ip)))
  if (families.size > 1)
    throw refusing(at, text, 'write addresses of one family, and a policy for the other one')
  return [...new Set(hops.map((ip) => formatIp(ip)))]
}

function readPeering(vpc: string, entry: Entry<'vpcPeerings'>, field: string): VpcPeering {
  const { remoteVpc: remote = '', localConnectIP = '' } = entry
  const at = `${field}.remoteVpc`
  if (!isObjectName(remote)) throw refusing(at, remote, 'write the name of a Vpc')
  if (remote === vpc) throw refusing(at, remote, 'name another Vpc: this is the very same')
  const { v4, v6 } = parseCidrList(localConnectIP, `${field}.localConnectIP`)
  const networks: readonly Cidr[] = [v4, v6].filter((cidr) => cidr !== undefined)
  const alone = networks.find(({ family, prefixLength }) => prefixLength === (family === 4 ? 32 : 128))
  if (alone !== undefined)
    throw refusing(
      `${field}.localConnectIP`,
      localConnectIP,
      'write the address with the length of a prefix that has room for both sides, like 169.254.0.1/30',
    )
  return { remote, networks, field }
}

function readBfdPort({ ip = '', nodeSelector }: NonNullable<VpcSpec['bfdPort']>): BfdPortClaim {
  return { addresses: parseIpList(ip, 'spec.bfdPort.ip'), selector: nodeSelector }
}

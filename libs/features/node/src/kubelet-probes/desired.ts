import type {
  Chain,
  Expression,
  NftSet,
  PayloadField,
  SetElement,
  Statement,
  Table,
} from '@kube-ovn/netfilter'

/** The pair of links by way of which the node reaches pods that no route leads to: what it sends by one end comes in by the other. */
export const probeLinks = {
  /** Where the node sends, and gets answers. */
  node: 'ovn-probes',
  /** Where they are handed over to the links of pods. */
  pods: 'ovn-probes-pod',
  /** Of the node's end. */
  mac: '0a:58:a9:fe:51:02',
} as const

/** Who asks, as a pod sees it: nobody in any VPC has these addresses, so all that is for them is an answer. */
export const probeSources = { ipv4: '169.254.81.2', ipv6: 'fd81:6f76:6e70::2' } as const

/** What is led to the pair of links: mark, rule and table have upstream's numbers. */
export const probeMark = 0x90003
export const probeRouteTable = 10_001

const tableName = 'kube-ovn-probes'

/** Both families, with what differs between them. */
const families = [
  { name: 'ipv4', protocol: 'ip', addressType: 'ipv4_addr' },
  { name: 'ipv6', protocol: 'ip6', addressType: 'ipv6_addr' },
] as const

type FamilyFacts = (typeof families)[number]

/** An address and a TCP port of a pod that the kubelet connects to. */
export interface ProbeTarget {
  readonly address: string
  readonly port: number
}

export function familiesOf(targets: readonly ProbeTarget[]): readonly ('ipv4' | 'ipv6')[] {
  return families.filter((family) => targets.some(isOf(family))).map(({ name }) => name)
}

/**
 * Renders what the node's own processes go through on the way to pods that no route leads to: connections to a probed port are marked, routed to the pair of
 * links, and get a source that pods answer.
 *
 * What comes in there and answers nothing is dropped: a pod must not get into the node by it.
 */
export function desiredNodeFilter(targets: readonly ProbeTarget[]): Table {
  const served = families.filter((family) => targets.some(isOf(family)))
  return {
    family: 'inet',
    name: tableName,
    sets: served.map((family) => targetSet(family, targets)),
    chains: [
      {
        name: 'mark',
        base: { type: 'route', hook: 'output', priority: -150 },
        rules: served.map((family) => ({
          statements: [matchTargets(family), addMark],
          comment: 'to a probed port of a VPC',
        })),
      },
      {
        name: 'guard',
        base: { type: 'filter', hook: 'prerouting', priority: -150 },
        rules: [
          {
            statements: [
              comesIn,
              { match: { op: 'in', left: { ct: { key: 'state' } }, right: 'established' } },
              { return: null },
            ],
          },
          { statements: [comesIn, { drop: null }], comment: 'no answer' },
        ],
      },
      {
        name: 'source',
        base: { type: 'nat', hook: 'postrouting', priority: 90 },
        rules: served.map(({ name, protocol }) => ({
          statements: [
            equals({ meta: { key: 'oifname' } }, probeLinks.node),
            { snat: { family: protocol, addr: probeSources[name] } },
          ],
        })),
      },
    ],
  }
}

/** The NIC of a pod that no route leads to. */
export interface ProbedNic {
  /** The host's end. */
  readonly link: string
  readonly mac: string
  readonly targets: readonly ProbeTarget[]
}

/**
 * Renders how packets get from the pair of links into a pod, and answers out of it, before Open vSwitch sees them: neither OVN nor a
 * policy is asked, and that two VPCs have the same prefixes does not matter.
 *
 * A table for each NIC: one whose link has gone can not be written.
 *
 * @param pairIndex of the pods' end of the pair: rules lead to it by number, so another pair needs other ones
 */
export function desiredNicFilter({ link, mac, targets }: ProbedNic, pairIndex: number): Table {
  const groups = [...Map.groupBy(targets, ({ address }) => address)].map(([address, all]) => ({
    address,
    family: families[address.includes(':') ? 1 : 0],
    ports: { set: all.map(({ port }) => port) },
  }))
  return {
    family: 'netdev',
    name: `${tableName}-${link}`,
    sets: [],
    chains:
      groups.length === 0
        ? []
        : [
            ingress(
              'to-pod',
              probeLinks.pods,
              groups.map(({ address, family: { protocol }, ports }) => [
                field({ protocol, field: 'daddr' }, address),
                field({ protocol: 'tcp', field: 'dport' }, ports),
                sendTo(mac),
                { fwd: { dev: link } },
              ]),
              `link ${pairIndex}`,
            ),
            ingress(
              'from-pod',
              link,
              groups.map(({ address, family: { name, protocol }, ports }) => [
                field({ protocol, field: 'daddr' }, probeSources[name]),
                field({ protocol, field: 'saddr' }, address),
                field({ protocol: 'tcp', field: 'sport' }, ports),
                sendTo(probeLinks.mac),
                { fwd: { dev: probeLinks.pods } },
              ]),
              `to link ${pairIndex}`,
            ),
          ],
  }
}

function ingress(
  name: string,
  link: string,
  rules: readonly (readonly Statement[])[],
  comment: string,
): Chain {
  return {
    name,
    base: { type: 'filter', hook: 'ingress', priority: 0, link },
    rules: rules.map((statements) => ({ statements, comment })),
  }
}

const comesIn = equals({ meta: { key: 'iifname' } }, probeLinks.node)

const addMark: Statement = {
  mangle: { key: { meta: { key: 'mark' } }, value: { '|': [{ meta: { key: 'mark' } }, probeMark] } },
}

function equals(left: Expression, right: Expression): Statement {
  return { match: { op: '==', left, right } }
}

function field(payload: PayloadField, value: Expression): Statement {
  return equals({ payload }, value)
}

function sendTo(mac: string): Statement {
  return { mangle: { key: { payload: { protocol: 'ether', field: 'daddr' } }, value: mac } }
}

function targetSet(family: FamilyFacts, targets: readonly ProbeTarget[]): NftSet {
  const elements = targets
    .filter(isOf(family))
    .map(({ address, port }): SetElement => ({ concat: [address, port] }))
  return { name: setName(family), type: [family.addressType, 'inet_service'], elements }
}

function matchTargets(family: FamilyFacts): Statement {
  const left: Expression = {
    concat: [
      { payload: { protocol: family.protocol, field: 'daddr' } },
      { payload: { protocol: 'tcp', field: 'dport' } },
    ],
  }
  return { match: { op: '==', left, right: `@${setName(family)}` } }
}

function setName({ name }: FamilyFacts): string {
  return `probed-${name}`
}

function isOf({ name }: FamilyFacts): (target: ProbeTarget) => boolean {
  return ({ address }) => address.includes(':') === (name === 'ipv6')
}

import { configurationDirectory } from './control-plane.ts'
import { containerPreparation, renderMachineScript, type Daemon } from './shell-script.ts'
import {
  addressesOf,
  routerHost,
  subnetsOf,
  type AddressPair,
  type Blocks,
  type Topology,
} from './topology.ts'

/** What a router must know. */
interface RouterPlan {
  readonly asn: number
  readonly address: AddressPair
  /** From which anybody may peer. */
  readonly neighbors: AddressPair
  readonly behind: AddressPair
  /** Routers that it calls by itself: those before it, so that each pair has one session for each family. */
  readonly called: readonly AddressPair[]
}

/** What upstream's speaker, which is 65000, peers with by default; each router has a number of its own from there. */
const firstRouterAsn = 65_001

/** The number of the autonomous system of the router with index `index`. */
export function routerAsn(index: number): number {
  return firstRouterAsn + index
}

/** The network behind a router: an address of the router in it, and its prefixes. */
export function networkBehind(index: number): {
  readonly address: AddressPair
  readonly prefixes: AddressPair
} {
  const number = index + 1
  return {
    address: { ipv4: `10.127.${number}.1`, ipv6: `fd00:10:127:${number}::1` },
    prefixes: { ipv4: `10.127.${number}.0/24`, ipv6: `fd00:10:127:${number}::/64` },
  }
}

/** Renders the files of the router with index `index`, by name; `start` is what it runs. */
export function renderRouterFiles(
  { routers }: Topology,
  blocks: Blocks,
  index: number,
): Readonly<Record<string, string>> {
  const physical = (host: number): AddressPair => addressesOf(blocks, 'physical', host)
  const plan: RouterPlan = {
    asn: routerAsn(index),
    address: physical(routerHost(index)),
    neighbors: subnetsOf(blocks, 'physical'),
    behind: networkBehind(index).prefixes,
    called: routers.slice(0, index).map((_, before) => physical(routerHost(before))),
  }
  const isFrr = routers[index] === 'frr'
  return {
    start: renderMachineScript(
      [...containerPreparation, ...routing, ...(isFrr ? frrPreparation : [])],
      isFrr ? frrDaemons : birdDaemons,
    ),
    [isFrr ? 'bgpd.conf' : 'bird.conf']: isFrr ? renderFrr(plan) : renderBird(plan),
  }
}

const routing: readonly string[] = [
  'echo 1 > /proc/sys/net/ipv4/ip_forward',
  'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding',
  // As routers do: of several ways, each connection has one.
  'echo 1 > /proc/sys/net/ipv4/fib_multipath_hash_policy',
  'echo 1 > /proc/sys/net/ipv6/fib_multipath_hash_policy',
]

const frrPreparation: readonly string[] = [
  'mkdir -p /run/frr /var/tmp/frr',
  'chown frr:frr /run/frr /var/tmp/frr',
]

const frrDaemons: readonly Daemon[] = [
  { name: 'mgmtd', command: ['/usr/lib/frr/mgmtd', '--log=stdout'] },
  { name: 'zebra', command: ['/usr/lib/frr/zebra', '--log=stdout'] },
  { name: 'bfdd', command: ['/usr/lib/frr/bfdd', '--log=stdout'] },
  {
    name: 'bgpd',
    command: ['/usr/lib/frr/bgpd', '--log=stdout', `--config_file=${configurationDirectory}/bgpd.conf`],
  },
]

const birdDaemons: readonly Daemon[] = [
  {
    name: 'bird',
    command: ['bird', '-f', '-c', `${configurationDirectory}/bird.conf`, '-s', '/run/bird.ctl'],
  },
]

/** A session carries the family that it runs over. */
function renderFrr({ asn, address, neighbors, behind, called }: RouterPlan): string {
  const family = (name: 'ipv4' | 'ipv6'): readonly string[] => [
    ` address-family ${name} unicast`,
    `  network ${behind[name]}`,
    `  neighbor ${name} activate`,
    ...called.map((pair) => `  neighbor ${pair[name]} activate`),
    ' exit-address-family',
  ]
  return [
    `router bgp ${asn}`,
    ` bgp router-id ${address.ipv4}`,
    ' no bgp ebgp-requires-policy',
    ' no bgp default ipv4-unicast',
    // What it announces need not be in the kernel's table.
    ' no bgp network import-check',
    ...(['ipv4', 'ipv6'] as const).flatMap((name) => [
      ` neighbor ${name} peer-group`,
      ` neighbor ${name} remote-as external`,
      ` bgp listen range ${neighbors[name]} peer-group ${name}`,
      ...called.map((pair) => ` neighbor ${pair[name]} remote-as external`),
    ]),
    ...family('ipv4'),
    ...family('ipv6'),
    '',
  ].join('\n')
}

function renderBird({ asn, address, neighbors, behind, called }: RouterPlan): string {
  const channel = (name: 'ipv4' | 'ipv6'): string => `  ${name} { import all; export all; };`
  const families = ['ipv4', 'ipv6'] as const
  return [
    'log stderr all;',
    `router id ${address.ipv4};`,
    'protocol device { }',
    ...families.flatMap((name) => [
      `protocol kernel { ${name} { import none; export where source != RTS_STATIC; }; }`,
      `protocol static { ${name}; route ${behind[name]} unreachable; }`,
      `protocol bgp nodes_${name} {`,
      `  local as ${asn};`,
      `  neighbor range ${neighbors[name]} external;`,
      `  dynamic name "node_${name}_";`,
      channel(name),
      '}',
      ...called.flatMap((pair, index) => [
        `protocol bgp router_${index + 1}_${name} {`,
        `  local as ${asn};`,
        `  neighbor ${pair[name]} external;`,
        channel(name),
        '}',
      ]),
    ]),
    '',
  ].join('\n')
}

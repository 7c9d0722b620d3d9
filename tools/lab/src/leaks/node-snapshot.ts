import { readFileSync } from 'node:fs'
import { inNamespace } from '@kube-ovn/netlink'
import type { LabNode } from '../cluster/cluster.ts'
import { namespaceOf, runAt, type Place } from '../namespaces.ts'
import { readProcesses } from '../observe/processes.ts'
import { splitRuleset } from './nft-rules.ts'

/** What shells wait with; it comes and goes all the time. */
const pause = 'sleep'

/** What holds a sandbox for containerd, which starts others of the name for a moment: what runs in it is counted. */
const shim = 'containerd-shim'

/**
 * Rules of who serves Services follow where Kubernetes runs what, be that kube-proxy or the agent in its place; the engine's its own ports, which is
 * not ours. The CNI project's portmap makes its chains with the first port of a host, and leaves them.
 */
const foreignRules: readonly RegExp[] = [
  /^table \S+ kube-proxy\b/,
  /^table inet kube-ovn-services chain (inside|outside|everywhere)-\w+: /,
  /^table ip nat chain DOCKER_\w+: /,
  /^table ip6? nat chain CNI-HOSTPORT-(SETMARK|MASQ|DNAT)\b/,
  /^table ip6? nat chain (PREROUTING|OUTPUT|POSTROUTING)(: .*CNI-HOSTPORT-.*|: type nat hook .*)?$/,
  /^table ip6? nat$/,
]

/** Linux takes the ports of clients from here on; a listener there changes its number with each start. */
const firstEphemeralPort = 32_768

/** The state of a listening TCP socket in /proc/net/tcp. */
const listening = '0A'
const unconnected = '07'

/**
 * What exists on a node, by where it is looked for: links, addresses, routes and rules of its own network namespace, named namespaces, ports of Open vSwitch, nftables,
 * listening sockets, processes by name. Sockets and processes are of all nodes together, since a pod may be moved.
 *
 * @param vswitch where Open vSwitch's tools find its database; undefined if it does not run
 */
export async function snapshotNode(
  { name, container, place }: LabNode,
  vswitch: Place | undefined,
): Promise<readonly (readonly [string, readonly string[]])[]> {
  const isOnNode = (cgroup: string): boolean => cgroup.includes(container.id)
  const running = new Set(readProcesses(isOnNode).map(({ pid }) => pid))
  const [links, addresses, routes, rules, namespaces, ruleset, ports] = await Promise.all([
    readJson<Link>(place, 'link').then((all) => all.map(({ ifname }) => withoutIds(ifname))),
    readJson<Link>(place, 'address').then((all) => all.flatMap(addressesOfLink)),
    Promise.all(['-4', '-6'].map((family) => runAt(place, ['ip', family, 'route', 'show', 'table', 'all']))),
    Promise.all(['-4', '-6'].map((family) => runAt(place, ['ip', family, 'rule']))),
    runAt(place, ['sh', '-c', 'ls /run/netns 2>/dev/null || true']),
    runAt(place, ['nft', '--stateless', 'list', 'ruleset']),
    vswitch === undefined ? [] : vswitchPorts(vswitch),
  ])
  return [
    [`${name} links`, links],
    [`${name} addresses`, addresses],
    [`${name} routes`, routes.flatMap(linesOf).filter(isOwnRoute).map(withoutLifetime)],
    [`${name} rules`, rules.flatMap(linesOf)],
    [`${name} network namespaces`, linesOf(namespaces).map(withoutIds)],
    [
      `${name} nftables`,
      splitRuleset(ruleset).filter((thing) => !foreignRules.some((rule) => rule.test(thing))),
    ],
    [`${name} Open vSwitch ports`, ports.map(withoutIds)],
    ['listening sockets of nodes', listeningSockets(namespaceOf(place))],
    [
      'processes of nodes',
      // A probe or a hook has ended by now.
      readProcesses(isOnNode)
        .filter(({ pid, command }) => running.has(pid) && command !== pause && command !== shim)
        .map(({ command }) => command),
    ],
  ]
}

/** As ip(8) prints it. */
interface Link {
  readonly ifname: string
  readonly addr_info?: readonly {
    readonly local?: string
    readonly prefixlen?: number
    readonly scope?: string
  }[]
}

async function readJson<T>(place: Place, object: string): Promise<readonly T[]> {
  return JSON.parse(await runAt(place, ['ip', '-json', object])) as readonly T[]
}

/**
 * A pod whose sandbox was made again, as after a reboot, has a link and a namespace under another name, and a tunnel to a chassis that was
 * away another number: one for one.
 */
export function withoutIds(name: string): string {
  return name
    .replace(/^[0-9a-f]{12}_/, '#_')
    .replace(/^cni-[0-9a-f-]{36}$/, 'cni-#')
    .replace(/^(ovn-[0-9a-f]{6})-\d+\b/, '$1-#')
}

/** A link-local address follows from the link's MAC address. */
function addressesOfLink({ ifname, addr_info: addresses = [] }: Link): string[] {
  return addresses
    .filter(({ scope }) => scope !== 'link')
    .map(({ local, prefixlen }) => `${ifname} ${local ?? ''}/${prefixlen ?? ''}`)
}

/** The kernel makes the others itself, for each address and link. */
function isOwnRoute(route: string): boolean {
  return !/ table local | proto kernel /.test(`${route} `)
}

/** A route that was learned has a lifetime. */
function withoutLifetime(route: string): string {
  return route.replace(/ expires \S+/, '')
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

async function vswitchPorts(vswitch: Place): Promise<readonly string[]> {
  const columns = '--columns=name,type,external_ids'
  const output = await runAt(vswitch, [
    'ovs-vsctl',
    '--timeout=10',
    '--format=json',
    columns,
    'list',
    'Interface',
  ])
  const { data } = JSON.parse(output) as {
    readonly data: readonly (readonly [string, string, [string, [string, string][]]])[]
  }
  return data.map(([name, type, [, pairs]]) => {
    const port = pairs.find(([key]) => key === 'iface-id')?.[1]
    return [name, type, ...(port === undefined ? [] : [`of ${port}`])].filter((word) => word !== '').join(' ')
  })
}

/** TCP and UDP sockets that wait for a client, read without starting anything. */
function listeningSockets(netns: string): readonly string[] {
  return (['tcp', 'tcp6', 'udp', 'udp6'] as const).flatMap((protocol) => {
    const table = inNamespace(netns, () => readFileSync(`/proc/thread-self/net/${protocol}`, 'utf8'))
    return readSocketTable(protocol, table)
  })
}

/** Reads a table of /proc/net (proc_pid_net(5)): the second column is the local address, the fourth the state. */
export function readSocketTable(protocol: string, table: string): readonly string[] {
  const wanted = protocol.startsWith('tcp') ? listening : unconnected
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === wanted)
    .map(([, local = '']) => Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16))
    .filter((port) => protocol.startsWith('tcp') || port < firstEphemeralPort)
    .map((port) => `${protocol} port ${port < firstEphemeralPort ? port : 'of clients'}`)
}

import { once } from 'node:events'
import { runAt, startAt, type AddressPair, type Cluster, type Place } from '@kube-ovn/lab'

/** A router of a lab, as far as a suite gives it other settings than the lab's. */
export type Router = Cluster['routers'][number]

/** Who has learned routes: a router, or a host that goes by what routers tell it. */
type Learner = Pick<Router, 'place' | 'daemon'>

/** A path of one of its routes, as the kernel has it: packets go by nothing else. */
interface KernelRoute {
  readonly dst: string
  readonly gateway?: string
  readonly via?: { readonly host: string }
  readonly nexthops?: readonly { readonly gateway?: string; readonly via?: { readonly host: string } }[]
}

/** Where a router sends packets for prefixes that it has learned; several next hops where it has several ways. */
export async function learned(
  { place, daemon }: Learner,
  family: 'ipv4' | 'ipv6',
): Promise<ReadonlyMap<string, readonly string[]>> {
  const version = family === 'ipv4' ? '-4' : '-6'
  const protocol = daemon === 'frr' ? 'bgp' : 'bird'
  const text = await runAt(place, ['ip', version, '-json', 'route', 'show', 'proto', protocol])
  const routes = text.trim() === '' ? [] : (JSON.parse(text) as readonly KernelRoute[])
  const found = new Map<string, string[]>()
  for (const { dst, nexthops, ...single } of routes) {
    const hops = (nexthops ?? [single]).flatMap(({ gateway, via }) => gateway ?? via?.host ?? [])
    found.set(dst, [...(found.get(dst) ?? []), ...hops].toSorted())
  }
  return found
}

/** What FRR says, as JSON. */
export async function askFrr<T>({ place }: Router, command: string): Promise<T> {
  return JSON.parse(await runAt(place, ['vtysh', '-c', `${command} json`])) as T
}

/** Has FRR take lines of configuration. */
export async function configureFrr({ place }: Router, ...lines: readonly string[]): Promise<void> {
  await runAt(place, ['vtysh', ...['configure terminal', ...lines].flatMap((line) => ['-c', line])])
}

/** What BIRD says. */
export function askBird({ place }: Pick<Router, 'place'>, ...command: readonly string[]): Promise<string> {
  return runAt(place, ['birdc', '-s', '/run/bird.ctl', ...command])
}

/** Gives BIRD another configuration until it is started again. */
export async function configureBird(router: Router, text: string): Promise<void> {
  await runAt(router.place, ['sh', '-c', 'cat > /run/bird-suite.conf'], { input: text })
  await askBird(router, 'configure', '"/run/bird-suite.conf"')
}

/** Of speakers and routers alike: milliseconds between two packets, and how many may be missing. */
export const bfd = { ms: 300, multiplier: 3 }

/** Password of the sessions with FRR. */
export const frrPassword = 'first-secret'

/** FRR as it is given beside the lab's settings: signed sessions of IPv4, sessions of IPv6 that BFD watches. */
export const frrLines: readonly string[] = [
  ...['bfd', 'profile fast', `detect-multiplier ${bfd.multiplier}`],
  ...[`receive-interval ${bfd.ms}`, `transmit-interval ${bfd.ms}`],
  ...['exit', 'exit'],
  ...['router bgp 65001', `neighbor ipv4 password ${frrPassword}`, 'neighbor ipv6 bfd profile fast'],
  // The host outside is to know all ways.
  ...['address-family ipv4 unicast', 'neighbor ipv4 addpath-tx-all-paths', 'exit-address-family'],
]

/**
 * BIRD: IPv4 over IPv6, BFD whose end counts as a restart, sessions with the address behind it, which is two hops away, and one with the
 * host outside, which it tells all ways.
 */
export function birdConfiguration(
  { addresses: own, behind: { ipv4: behind } }: Pick<Router, 'addresses' | 'behind'>,
  outside: AddressPair,
  farPassword?: string,
): string {
  const range = {
    ipv4: own.ipv4.replace(/\.\d+$/, '.0/24'),
    ipv6: own.ipv6.replace(/::[0-9a-f]+$/, '::/64'),
  }
  return `log stderr all;
router id ${own.ipv4};
protocol device { }
protocol bfd { accept ipv6 direct; interface "*" { min rx interval ${bfd.ms} ms; min tx interval ${bfd.ms} ms; multiplier ${bfd.multiplier}; }; }
protocol kernel { ipv4 { import none; export where source != RTS_STATIC; }; merge paths on; }
protocol kernel { ipv6 { import none; export where source != RTS_STATIC; }; merge paths on; }
protocol bgp near {
  local ${own.ipv6} as 65002;
  neighbor range ${range.ipv6} external;
  dynamic name "near_";
  bfd graceful;
  ipv4 { extended next hop on; import all; export none; };
  ipv6 { import all; export none; };
}
protocol bgp host {
  local ${own.ipv6} as 65002;
  neighbor ${outside.ipv6} as ${hostAs};
  passive yes;
  ipv6 { import none; export all; add paths tx; };
}
protocol bgp far {
  local ${behind} as 65002;
  neighbor range ${range.ipv4} external;
  dynamic name "far_";
  multihop 2;${farPassword === undefined ? '' : `\n  password "${farPassword}";`}
  ipv4 { import all; preference 50; export none; };
}
`
}

/** Of the host outside. */
const hostAs = 65_100

/** The host outside while it goes by what the routers tell it: IPv4 by FRR, IPv6 by BIRD. */
export interface LearningHost extends Learner, AsyncDisposable {
  readonly name: string
  readonly place: Place
}

/** Starts BGP on the host outside, which announces nothing; of several ways to an address, each of its connections has one. */
export async function startLearning({ outside, routers }: Cluster): Promise<LearningHost> {
  const [frr, bird] = routers
  if (frr === undefined || bird === undefined) throw new Error('the lab has two routers')
  const { place, addresses: own } = outside
  const retries = 'connect delay time 1; connect retry time 2; error wait time 1, 5;'
  const configuration = `log stderr all;
router id ${own.ipv4};
protocol device { }
protocol kernel { ipv4 { import none; export all; }; merge paths on; }
protocol kernel { ipv6 { import none; export all; }; merge paths on; }
protocol bgp frr {
  local ${own.ipv4} as ${hostAs};
  neighbor ${frr.addresses.ipv4} as 65001;
  password "${frrPassword}";
  ${retries}
  ipv4 { import all; export none; add paths rx; };
}
protocol bgp bird {
  local ${own.ipv6} as ${hostAs};
  neighbor ${bird.addresses.ipv6} as 65002;
  ${retries}
  ipv6 { import all; export none; add paths rx; };
}
`
  const policies = ['ipv4', 'ipv6'].map((family) => `/proc/sys/net/${family}/fib_multipath_hash_policy`)
  const hash = (policy: 0 | 1): Promise<string> =>
    // Its own files are not to be written there.
    runAt({ ...place, machinePid: process.pid }, [
      ...['sh', '-c', policies.map((path) => `echo ${policy} > ${path}`).join(' && ')],
    ])
  await hash(1)
  const daemon = await startBird(place, { name: 'host', socket: '/run/bird.ctl', configuration })
  return {
    ...{ name: 'outside', place, daemon: 'bird' },
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]()
      await hash(0)
    },
  }
}

/** Starts a BIRD, whose end before its time is told when it is ended. It takes its routes with it. */
export async function startBird(
  place: Place,
  { name, socket, configuration }: Readonly<Record<'name' | 'socket' | 'configuration', string>>,
): Promise<AsyncDisposable> {
  const file = `/run/${name}-bird.conf`
  await runAt(place, ['sh', '-c', `cat > ${file}`], { input: configuration })
  const daemon = startAt(place, ['bird', '-f', '-c', file, '-s', socket])
  let said = ''
  daemon.stdout?.resume()
  daemon.stderr?.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-2000)))
  const ended = once(daemon, 'close')
  return {
    async [Symbol.asyncDispose]() {
      if (daemon.exitCode !== null) throw new Error(`BIRD ${name} has ended: ${said}`)
      daemon.kill('SIGTERM')
      await ended
    },
  }
}

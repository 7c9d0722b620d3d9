import { runAt, type Cluster } from '@kube-ovn/lab'

/** A router of a lab, as far as a suite gives it other settings than the lab's. */
export type Router = Cluster['routers'][number]

/** A path of one of its routes, as the kernel has it: packets go by nothing else. */
interface KernelRoute {
  readonly dst: string
  readonly gateway?: string
  readonly via?: { readonly host: string }
  readonly nexthops?: readonly { readonly gateway?: string; readonly via?: { readonly host: string } }[]
}

/** Where a router sends packets for prefixes that it has learned; several next hops where it has several ways. */
export async function learned(
  { place, daemon }: Router,
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
export function askBird({ place }: Router, ...command: readonly string[]): Promise<string> {
  return runAt(place, ['birdc', '-s', '/run/bird.ctl', ...command])
}

/** Gives BIRD another configuration until it is started again. */
export async function configureBird(router: Router, text: string): Promise<void> {
  await runAt(router.place, ['sh', '-c', 'cat > /run/bird-suite.conf'], { input: text })
  await askBird(router, 'configure', '"/run/bird-suite.conf"')
}

/** Password of the sessions with FRR. */
export const frrPassword = 'first-secret'

/** FRR as it is given beside the lab's settings: signed sessions of IPv4, sessions of IPv6 that BFD watches. */
export const frrLines: readonly string[] = [
  ...['bfd', 'profile fast', 'detect-multiplier 3', 'receive-interval 300', 'transmit-interval 300'],
  ...['exit', 'exit'],
  ...['router bgp 65001', `neighbor ipv4 password ${frrPassword}`, 'neighbor ipv6 bfd profile fast'],
]

/** BIRD: IPv4 over IPv6, BFD whose end counts as a restart, and sessions with the address behind it, which is two hops away. */
export function birdConfiguration(
  { addresses: own, behind: { ipv4: behind } }: Pick<Router, 'addresses' | 'behind'>,
  farPassword?: string,
): string {
  const range = {
    ipv4: own.ipv4.replace(/\.\d+$/, '.0/24'),
    ipv6: own.ipv6.replace(/::[0-9a-f]+$/, '::/64'),
  }
  return `log stderr all;
router id ${own.ipv4};
protocol device { }
protocol bfd { accept ipv6 direct; interface "*" { min rx interval 300 ms; min tx interval 300 ms; multiplier 3; }; }
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
protocol bgp far {
  local ${behind} as 65002;
  neighbor range ${range.ipv4} external;
  dynamic name "far_";
  multihop 2;${farPassword === undefined ? '' : `\n  password "${farPassword}";`}
  ipv4 { import all; preference 50; export none; };
}
`
}

import { overlaps, parseCidr, type Cidr } from '@kube-ovn/ip'
import { runProgram } from '../program.ts'
import { labRanges, ofStack } from './topology.ts'

/** As ip(8) prints it; of a type, unless that is unicast. */
interface HostRoute {
  readonly dst: string
  readonly type?: string
}

/**
 * The ranges within those of labs to which this machine has routes, be it to networks of labs or to something of its own. The engine knows
 * only its own networks.
 *
 * Wider routes, as to all of 172.16.0.0/12, do not count: longer prefixes go before them.
 */
export async function rangesInUse(): Promise<readonly Cidr[]> {
  const within = ofStack('dual', labRanges).map((range) => parseCidr(range))
  const routes = await Promise.all(
    ['-4', '-6'].map(async (family) => {
      const output = await runProgram('ip', ['-json', family, 'route', 'show'])
      return JSON.parse(output === '' ? '[]' : output) as readonly HostRoute[]
    }),
  )
  return routes
    .flat()
    .filter(({ dst, type = 'unicast' }) => dst !== 'default' && type !== 'blackhole')
    .map(({ dst }) => parseCidr(dst.includes('/') ? dst : `${dst}/${dst.includes(':') ? 128 : 32}`))
    .filter((route) =>
      within.some(
        (range) =>
          range.family === route.family && range.prefixLength <= route.prefixLength && overlaps(range, route),
      ),
    )
}

/** Whether a network overlaps with one of these ranges. */
export function isInUse(network: string, ranges: readonly Cidr[]): boolean {
  const cidr = parseCidr(network)
  return ranges.some((range) => range.family === cidr.family && overlaps(range, cidr))
}

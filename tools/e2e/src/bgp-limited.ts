import { runAt, type Cluster } from '@kube-ovn/lab'
import { startBird } from './bgp-routers.ts'

/** Of the router, which the host outside is as well. */
export const limitedAs = 65_003
/** Beside what the host outside has there. */
const port = 1790
const socket = '/run/limited.ctl'

/** A router that dials the speakers, and takes so many prefixes of IPv4 of each: one of them more, and it ends the session for good. */
export interface LimitedRouter extends AsyncDisposable {
  /** Makes sessions again. */
  enable(): Promise<void>
}

/** Starts it on the host outside, whose address is its own. */
export async function startLimited({ outside, nodes }: Cluster, most: number): Promise<LimitedRouter> {
  const { place, addresses } = outside
  const sessions = nodes.map(
    ({ physical }, index) => `protocol bgp limited_${index} {
  local ${addresses.ipv4} port ${port} as ${limitedAs};
  neighbor ${physical.ipv4} as 65000;
  connect delay time 1; connect retry time 2; error wait time 1, 5;
  ipv4 { import all; import limit ${most} action disable; export none; };
}
`,
  )
  const daemon = await startBird(place, {
    name: 'limited',
    socket,
    // That of the host outside is another router's.
    configuration: `log stderr all;\nrouter id 192.0.2.3;\nprotocol device { }\n${sessions.join('')}`,
  })
  return {
    async enable() {
      await runAt(place, ['birdc', '-s', socket, 'enable', 'all'])
    },
    [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
  }
}

import { recordingLogger } from '@kube-ovn/log'
import type { PeerDependencies } from './peer.ts'
import type { GracefulRestartOptions, PeerOptions } from './peer-options.ts'
import { Peer } from './peer.ts'
import type { Route } from './route.ts'

/** A neighbour outside of the own AS, of both families where nothing else is said. */
export function makePeer(
  surroundings: Pick<PeerDependencies, 'clock' | 'dial' | 'changed'>,
  options: Partial<PeerOptions>,
  gracefulRestart: GracefulRestartOptions | undefined,
  as = 65_000,
): Peer {
  return new Peer(
    {
      ...{ address: '192.0.2.9', as: 65_001, port: 179, isPassive: false, ttl: 1 },
      ...{ families: ['ipv4', 'ipv6'], extendedNextHop: false, ...options },
    },
    { as, identifier: '192.0.2.1', holdTimeS: 90, gracefulRestart },
    { ...surroundings, log: recordingLogger(), random: () => 0 },
  )
}

/** Lets promises go on; nothing here waits for anything else. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve()
}

/** One of each family. */
export const routes: readonly Route[] = [
  { prefix: '10.16.0.5/32', nextHop: '192.0.2.1' },
  { prefix: 'fd00:10:16::5/128', nextHop: '2001:db8::1' },
]

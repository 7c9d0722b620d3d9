import { networkInterfaces } from 'node:os'
import { ProbeSocketError } from '../errors.ts'
import { openGroupListener, openListener, probeGroups } from './listener.ts'
import type { SightingRecorder } from './sightings.ts'
import { familyOfText, type ProbeFamily } from './socket-address.ts'

const everywhere: Record<ProbeFamily, string> = { ipv4: '0.0.0.0', ipv6: '::' }

/** Who asks is told what was seen; nobody looks it up afterwards. */
const forgetful: SightingRecorder = { record: () => undefined }

/**
 * Listens by TCP, HTTP, UDP and SCTP and as a member of the groups, in both families, as far as the kernel has them, until the process ends.
 *
 * @returns a line for each listener, and for each that could not be, why
 */
export function serve(port: number): readonly string[] {
  const families = Object.keys(everywhere) as ProbeFamily[]
  const streams = families.flatMap((family) =>
    (['tcp', 'udp', 'sctp'] as const).map((protocol) =>
      attempt(`${protocol} ${family}`, () => {
        const listener = openListener(
          { address: everywhere[family], port, protocol, hasGroups: true },
          forgetful,
        )
        return listener === undefined ? `port ${port} is taken` : ''
      }),
    ),
  )
  const groups = ownAddresses().map((address) =>
    attempt(`group ${address}`, () => {
      openGroupListener({ address, group: probeGroups[familyOfText(address)], port }, forgetful)
      return ''
    }),
  )
  return [...streams, ...groups]
}

function attempt(name: string, open: () => string): string {
  try {
    const reason = open()
    return reason === '' ? `${name}: listening` : `${name}: ${reason}`
  } catch (error) {
    if (!(error instanceof ProbeSocketError)) throw error
    return `${name}: ${error.details.operation} ${error.details.errno}`
  }
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address)
}

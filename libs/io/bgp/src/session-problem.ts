import type { Refused } from '@kube-ovn/errors'
import { BgpConfigInvalidError, BgpSocketError } from './errors.ts'
import { encodeCapabilities, familiesOf, noCapabilities, type Capabilities } from './capabilities.ts'
import { ceaseReason, errorCode, openError } from './notification.ts'
import type { OpenMessage } from './open-message.ts'

/** What this end says of itself, and expects of a peer. */
interface Expected {
  readonly localAs: number
  readonly remoteAs: number
  /** IPv4 address. */
  readonly identifier: string
  readonly holdTimeS: number
}

/** Why there can be no session with a peer that says that of itself. */
export interface Disagreement {
  /** Of the NOTIFICATION (RFC 4271, section 6.2). */
  readonly subcode: number
  /** What the NOTIFICATION carries beside it. */
  readonly data?: Buffer
  readonly problem: Refused
}

/** Looks for what keeps two ends from a session. */
export function disagreementOf(
  { as, identifier, holdTimeS, capabilities }: OpenMessage,
  own: Expected & { readonly capabilities: Pick<Capabilities, 'families'> },
): Disagreement | undefined {
  if (as !== own.remoteAs) {
    const cure = `the router says that it is of AS ${as}: write that, or correct the router`
    return {
      subcode: openError.badPeerAs,
      problem: { field: 'neighbor-as', value: String(own.remoteAs), cure },
    }
  }
  if (identifier === '0.0.0.0') {
    const cure = 'give the router an identifier'
    return { subcode: openError.badIdentifier, problem: { field: 'router-id', value: identifier, cure } }
  }
  // Outside of the own AS two may have one (RFC 6286).
  if (own.localAs === own.remoteAs && identifier === own.identifier) {
    const cure = 'the router has this identifier as well: give one of the two another'
    return { subcode: openError.badIdentifier, problem: { field: 'router-id', value: identifier, cure } }
  }
  if (holdTimeS === 1 || holdTimeS === 2) {
    const cure = 'have the router ask for a hold time of 0, or of at least 3 s'
    return { subcode: openError.badHoldTime, problem: { field: 'holdtime', value: `${holdTimeS}s`, cure } }
  }
  const families = familiesOf(own.capabilities)
  if (families.some((family) => familiesOf(capabilities).includes(family))) return undefined
  const cure = 'the router speaks none of them with this node: have it do so (activate the neighbour there)'
  return {
    subcode: openError.unsupportedCapability,
    // RFC 5492, section 5: those that are missed, as they stand in an OPEN.
    data: encodeCapabilities({ ...noCapabilities, families }),
    problem: { field: 'address-family', value: families.join(','), cure },
  }
}

/** Says which setting a peer complains of; `undefined` where it is none of this end. */
export function problemOfNotification(
  code: number,
  subcode: number,
  { localAs, identifier, holdTimeS, advertised }: Expected & { readonly advertised: number },
): Refused | undefined {
  if (code === errorCode.open && subcode === openError.badPeerAs) {
    const cure = 'the router expects another AS of this node: correct one of the two'
    return { field: 'cluster-as', value: String(localAs), cure }
  }
  if (code === errorCode.open && subcode === openError.badIdentifier) {
    const cure = 'the router, or another neighbour of it, has this identifier as well: give each its own'
    return { field: 'router-id', value: identifier, cure }
  }
  if (code === errorCode.open && subcode === openError.badHoldTime)
    return { field: 'holdtime', value: `${holdTimeS}s`, cure: 'give a hold time that the router takes' }
  if (code === errorCode.cease && subcode === ceaseReason.prefixLimit) {
    const cure = 'announce Subnets in the place of pods, or have the router take more prefixes'
    return { field: 'prefixes', value: String(advertised), cure }
  }
  return undefined
}

const cures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'see whether BGP is at work there, on that port',
  EHOSTUNREACH: 'see whether the router is up, and on which link',
  ENETUNREACH: 'give the node a route to it',
}

/** Says what a connection that did not come about is about. */
export function problemOfConnection(error: unknown, address: string): Refused {
  if (error instanceof BgpConfigInvalidError) return error.details
  const errno = error instanceof BgpSocketError ? error.details.errno : ''
  const cure =
    cures[errno] ??
    'see whether there is a way to it, whether a firewall takes the port, and whether both ends have one password'
  return { field: 'neighbor-address', value: address, cure }
}

/** Says what it is about that nobody can dial. */
export function problemOfListening({ details: { errno } }: BgpSocketError, port: number): Refused {
  const cure =
    errno === 'EADDRINUSE'
      ? 'end the other program that has the port of the node, or have neighbours be dialled'
      : 'see whether the speaker may have that port: it needs NET_BIND_SERVICE'
  return { field: 'neighbor-port', value: String(port), cure }
}

/** Why there is no connection, for a person who sees nothing else. */
export function reasonOfConnection(error: unknown): string {
  if (error instanceof BgpSocketError) return `${error.message}: ${error.details.errno}`
  if (error instanceof BgpConfigInvalidError) return `${error.message}: ${error.details.field}`
  return error instanceof Error ? error.message : String(error)
}

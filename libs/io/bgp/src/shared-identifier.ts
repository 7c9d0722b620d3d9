import type { Refused } from '@kube-ovn/errors'
import { familyOfText } from './address-family.ts'

/** A router that there is a session with. */
export interface IdentifiedPeer {
  readonly address: string
  readonly as: number
  /** That it has given itself; `undefined` without a session. */
  readonly identifier: string | undefined
}

/**
 * Says what is wrong with a router's identifier: this end, or another router of its AS, has it as well.
 *
 * It is to be of one router in its AS (RFC 6286): ties between ways are broken by it, and a router drops what one with its own identifier
 * has reflected. The two sessions of one router, one for each family, have one identifier: neighbours of one family alone are compared.
 */
export function identifierProblem(
  peer: IdentifiedPeer,
  peers: Iterable<IdentifiedPeer>,
  ownIdentifier: string,
): Refused | undefined {
  const { identifier } = peer
  if (identifier === undefined) return undefined
  const field = 'router-id'
  if (identifier === ownIdentifier)
    return { field, value: identifier, cure: 'this speaker has it as well: give one of the two another' }
  const others = [...peers]
    .filter(
      ({ address, as, identifier: theirs }) =>
        address !== peer.address &&
        as === peer.as &&
        theirs === identifier &&
        familyOfText(address) === familyOfText(peer.address),
    )
    .map(({ address }) => address)
  if (others.length === 0) return undefined
  const cure = `${others.join(', ')} has it as well: give each router its own, unless they are one`
  return { field, value: identifier, cure }
}

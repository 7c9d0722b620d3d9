import { z } from 'zod'
import { group, version } from './api-group.ts'
import { unchangeableRule } from './cel.ts'
import { conditionSchema } from './conditions.ts'
import type { KubeObject, Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'
import type { Definition } from './definition.ts'
import { flag, integer, list, text, texts, uint32 } from './fields.ts'

const spec = z.object({
  node: z.string().meta({
    description: 'Node whose speaker has the session; cannot be changed.',
    maxLength: 253,
    'x-kubernetes-validations': [unchangeableRule('node')],
  }),
  neighbor: z.string().meta({
    description: 'Address of the router; cannot be changed.',
    maxLength: 45,
    'x-kubernetes-validations': [unchangeableRule('neighbor')],
  }),
})

const prefixes = z.object({
  wanted: integer('Those that annotations ask for, and that the router is to be told.'),
  advertised: integer('Those that the router has been told.'),
  untellable: integer('Those that it can not be told, for its families or its capabilities.'),
  received: integer(
    'Those that the router has told, of both families. They are counted, and used by nobody.',
  ),
  receivedIpv4: integer('The IPv4 ones among them.'),
  receivedIpv6: integer('The IPv6 ones among them.'),
  receivedIsBeyondBound: flag('The router has told more than are counted: there are at least so many.'),
})

const end = z.object({
  by: text('Who ended it: local, remote, or transport when the connection was lost or did not come about.'),
  errorCode: integer('Of the NOTIFICATION (RFC 4271, section 4.5); 0 without one.'),
  errorSubcode: integer('Of the NOTIFICATION; 0 without one.'),
  reason: text('What that means, in words.'),
  time: text('When; for tries that fail alike one after the other, when the first of them did.'),
})

const status = z.object({
  state: text(
    'Idle, Connect, Active, OpenSent, OpenConfirm or Established (RFC 4271, section 8.2.2); Unknown while nobody knows how the node is.',
  ),
  since: text('When the session was established, or was lost.'),
  neighborAs: uint32('AS number of the router.'),
  neighborId: text('Identifier that the router has given itself, while there is a session.'),
  localAddress: text('Own address of the session, while there is one.'),
  holdTimeSeconds: integer('The hold time that was agreed on; 0 when silence ends no session.'),
  capabilities: texts(
    'What both ends can do, while there is a session: ipv4-unicast, ipv6-unicast, four-octet-as, extended-nexthop, route-refresh, graceful-restart.',
  ),
  prefixes: prefixes.optional().meta({ description: 'How many prefixes either side knows of the other.' }),
  bfd: text(
    'State of BFD (RFC 5880): AdminDown, Down, Init or Up; absent where it does not watch the router.',
  ),
  error: text('Why there is no session.'),
  lastEnd: end.optional().meta({ description: 'How the last session, or the last try for one, ended.' }),
  lastSilence: text(
    'Since when the node was silent the last time that this was told here, by the clock of who said so; what the speaker has said afterwards counts.',
  ),
  conditions: list('Established.', conditionSchema),
})

export type BgpPeerStatus = DeepReadonly<z.infer<typeof status>>

/** How the session of one node's speaker with one router is doing. */
export interface BgpPeer extends KubeObject {
  readonly spec?: DeepReadonly<z.infer<typeof spec>>
  readonly status?: BgpPeerStatus
}

export const bgpPeerResource: Resource<BgpPeer> = {
  group,
  version,
  kind: 'BgpPeer',
  plural: 'bgppeers',
  namespaced: false,
}

/** The condition of a BgpPeer, and its reasons. */
export const bgpPeerCondition = {
  type: 'Established',
  reason: {
    /** There is a session. */
    established: 'SessionEstablished',
    /** There has been no session yet. */
    connecting: 'Connecting',
    /** The connection was lost, or did not come about. */
    connectionFailed: 'ConnectionFailed',
    /** The router said why it has none. */
    refused: 'NotificationReceived',
    /** The speaker said why it has none. */
    ended: 'NotificationSent',
    /** The speaker has ended. */
    stopped: 'SpeakerStopped',
    /** There is no speaker on the node any more; the controller says so. */
    gone: 'SpeakerGone',
    /** Nobody knows how the node is, so nobody knows of the session; the controller says so. */
    silent: 'NodeSilent',
  },
} as const

export const bgpPeerDefinition: Definition = {
  resource: bgpPeerResource,
  singular: 'bgppeer',
  shortNames: [],
  description: 'How the session by BGP of the speaker of one node with one router is doing.',
  servedBy: 'speaker',
  spec,
  status,
  hasStatusSubresource: true,
  printerColumns: [
    { name: 'Node', type: 'string', jsonPath: '.spec.node' },
    { name: 'Neighbor', type: 'string', jsonPath: '.spec.neighbor' },
    { name: 'AS', type: 'integer', jsonPath: '.status.neighborAs' },
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Received', type: 'integer', jsonPath: '.status.prefixes.received' },
    { name: 'Advertised', type: 'integer', jsonPath: '.status.prefixes.advertised' },
    { name: 'Since', type: 'date', jsonPath: '.status.since' },
    { name: 'Error', type: 'string', jsonPath: '.status.error' },
  ],
}

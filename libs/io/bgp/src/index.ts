export type { BfdCounters } from './bfd/monitor.ts'
export type { BfdState } from './bfd/packet.ts'
export type { BfdStatus, BfdTimers } from './bfd/session.ts'
export type { AddressFamily } from './address-family.ts'
export { familyOfText } from './address-family.ts'
export type { Dial } from './connection.ts'
export type { MessageCounters } from './counters.ts'
export { BgpConfigInvalidError, BgpMessageError, BgpSocketError } from './errors.ts'
export type { HeardCounts } from './heard-prefixes.ts'
export type {
  GracefulRestartOptions,
  OwnOptions,
  PeerChange,
  PeerDependencies,
  PeerEnd,
  PeerOptions,
  PeerState,
  PeerStatus,
} from './peer.ts'
export type { Route } from './route.ts'
export type { Agreement, SessionEnd } from './session.ts'
export { BgpSpeaker, type SpeakerOptions, type WatchedPeerStatus } from './speaker.ts'
export { sourceAddress } from './source-address.ts'
export { dialTcp } from './tcp.ts'

import { attribute, eachAttribute, nested, parseAttributes, readText, text, u16, u32 } from './attributes.ts'
import { InvalidNetlinkValueError } from './errors.ts'
import { decodeMac, encodeMac } from './inet.ts'
import type {
  BridgeRequest,
  LinkChange,
  LinkInfo,
  LinkStatistics,
  OperationalState,
  VethRequest,
  VlanRequest,
} from './types.ts'

/** RTM_* of linux/rtnetlink.h. */
export const linkType = { created: 16, removed: 17, get: 18 } as const

/** IFF_* of linux/if.h. */
const linkFlag = { up: 0x1, noArp: 0x80, lowerUp: 0x10000 } as const

/** IFLA_* of linux/if_link.h. */
const ifla = {
  address: 1,
  name: 3,
  mtu: 4,
  link: 5,
  master: 10,
  txQueueLength: 13,
  operationalState: 16,
  linkInfo: 18,
  alias: 20,
  stats64: 23,
  netnsDescriptor: 28,
  extendedMask: 29,
  linkNetnsId: 37,
  propertyList: 52,
  alternativeName: 53,
  permanentAddress: 54,
} as const

const infoKind = 1
const infoData = 2
const vethPeer = 1
/** IFLA_VLAN_ID and -PROTOCOL. */
const vlanId = 1
const vlanProtocol = 5
/** ETH_P_8021Q of linux/if_ether.h. */
const customerTag = 0x8100
/** RTEXT_FILTER_SKIP_STATS: leaves out the counters of IPv6, which make a list much longer. */
const skipStatistics = 1 << 3

const operationalStates: readonly OperationalState[] = [
  'unknown',
  'notpresent',
  'down',
  'lowerlayerdown',
  'testing',
  'dormant',
  'up',
]

/** New values of IFF_* flags, and which of them are meant. */
interface FlagChange {
  readonly flags: number
  readonly mask: number
}

const unchanged: FlagChange = { flags: 0, mask: 0 }

const headerBytes = 16
/** IFNAMSIZ, less the terminating zero. */
const maximumNameBytes = 15

export function encodeLinkList(): Buffer {
  return Buffer.concat([linkHeader(0), extendedMask()])
}

export function encodeLinkQuery(nameOrIndex: string | number): Buffer {
  return typeof nameOrIndex === 'number'
    ? Buffer.concat([linkHeader(nameOrIndex), extendedMask()])
    : Buffer.concat([linkHeader(0), extendedMask(), queriedName(nameOrIndex)])
}

/** Encodes a veth pair; the peer's namespace is given as an open descriptor. */
export function encodeVeth(request: VethRequest, peerNetns: number | undefined): Buffer {
  const { peer } = request
  const peerBody = [
    linkHeader(0),
    attribute(ifla.name, linkName(peer.name)),
    ...mtuAndMac(peer),
    ...(peer.txQueueLength === undefined ? [] : [attribute(ifla.txQueueLength, u32(peer.txQueueLength))]),
    ...(peerNetns === undefined ? [] : [attribute(ifla.netnsDescriptor, u32(peerNetns))]),
  ]
  return Buffer.concat([
    linkHeader(0, flagsFor(request.up)),
    attribute(ifla.name, linkName(request.name)),
    ...mtuAndMac(request),
    ...(request.txQueueLength === undefined
      ? []
      : [attribute(ifla.txQueueLength, u32(request.txQueueLength))]),
    linkInfo('veth', [attribute(vethPeer, Buffer.concat(peerBody))]),
  ])
}

export function encodeBridge(request: BridgeRequest): Buffer {
  return Buffer.concat([
    linkHeader(0, flagsFor(request.up)),
    attribute(ifla.name, linkName(request.name)),
    ...mtuAndMac(request),
    linkInfo('bridge', []),
  ])
}

export function encodeVlan(request: VlanRequest): Buffer {
  if (!Number.isInteger(request.vlanId) || request.vlanId < 1 || request.vlanId > 4094) {
    throw new InvalidNetlinkValueError({
      field: 'vlanId',
      value: String(request.vlanId),
      expected: '1 to 4094',
    })
  }
  return Buffer.concat([
    linkHeader(0, flagsFor(request.up)),
    attribute(ifla.name, linkName(request.name)),
    attribute(ifla.link, u32(request.parentIndex)),
    ...mtuAndMac(request),
    linkInfo('vlan', [attribute(vlanId, u16(request.vlanId))]),
  ])
}

/** Encodes a change; the namespace to move to is given as an open descriptor. */
export function encodeLinkChange(index: number, change: LinkChange, netns: number | undefined): Buffer {
  return Buffer.concat([
    linkHeader(index, flagChange(change)),
    ...(netns === undefined ? [] : [attribute(ifla.netnsDescriptor, u32(netns))]),
    ...(change.name === undefined ? [] : [attribute(ifla.name, linkName(change.name))]),
    ...mtuAndMac(change),
    ...(change.alias === undefined ? [] : [attribute(ifla.alias, Buffer.from(change.alias))]),
    ...(change.txQueueLength === undefined ? [] : [attribute(ifla.txQueueLength, u32(change.txQueueLength))]),
    ...(change.masterIndex === undefined ? [] : [attribute(ifla.master, u32(change.masterIndex))]),
  ])
}

export function encodeLinkRemoval(index: number): Buffer {
  return linkHeader(index)
}

/** Reads a struct ifinfomsg and its attributes. */
export function parseLink(body: Buffer): LinkInfo {
  const flags = body.readUInt32LE(8)
  const found = parseAttributes(body.subarray(headerBytes))
  const info = found.get(ifla.linkInfo)
  const infos = info === undefined ? undefined : parseAttributes(info)
  const kind = infos?.get(infoKind)
  const tag = kind !== undefined && readText(kind) === 'vlan' ? parseTag(infos?.get(infoData)) : undefined
  const mac = found.get(ifla.address)
  const permanentMac = found.get(ifla.permanentAddress)
  const alias = found.get(ifla.alias)
  const master = found.get(ifla.master)
  const link = found.get(ifla.link)
  const linkNetnsId = found.get(ifla.linkNetnsId)
  const statistics = found.get(ifla.stats64)
  const properties = found.get(ifla.propertyList)
  return {
    index: body.readInt32LE(4),
    name: readText(found.get(ifla.name) ?? Buffer.alloc(0)),
    hardwareType: body.readUInt16LE(2),
    mtu: found.get(ifla.mtu)?.readUInt32LE(0) ?? 0,
    flags,
    isUp: (flags & linkFlag.up) !== 0,
    hasCarrier: (flags & linkFlag.lowerUp) !== 0,
    operationalState: operationalStates[found.get(ifla.operationalState)?.readUInt8(0) ?? 0] ?? 'unknown',
    txQueueLength: found.get(ifla.txQueueLength)?.readUInt32LE(0) ?? 0,
    altNames: properties === undefined ? [] : parseAlternativeNames(properties),
    ...(kind === undefined ? {} : { kind: readText(kind) }),
    ...(mac?.length === 6 ? { mac: decodeMac(mac) } : {}),
    ...(permanentMac?.length === 6 ? { permanentMac: decodeMac(permanentMac) } : {}),
    ...(alias === undefined ? {} : { alias: readText(alias) }),
    ...(master === undefined ? {} : { masterIndex: master.readUInt32LE(0) }),
    ...(link === undefined || link.readUInt32LE(0) === 0 ? {} : { linkIndex: link.readUInt32LE(0) }),
    ...(tag === undefined ? {} : { vlanId: tag }),
    ...(linkNetnsId === undefined ? {} : { linkNetnsId: linkNetnsId.readInt32LE(0) }),
    ...(statistics === undefined ? {} : { statistics: parseStatistics(statistics) }),
  }
}

/** Where no protocol is named it is 802.1Q. */
function parseTag(data: Buffer | undefined): number | undefined {
  const found = data === undefined ? undefined : parseAttributes(data)
  const protocol = found?.get(vlanProtocol)?.readUInt16BE(0) ?? customerTag
  return protocol === customerTag ? found?.get(vlanId)?.readUInt16LE(0) : undefined
}

function parseAlternativeNames(properties: Buffer): string[] {
  return [...eachAttribute(properties)]
    .filter(({ type }) => type === ifla.alternativeName)
    .map(({ value }) => readText(value))
}

/** struct rtnl_link_stats64: pairs of received and sent. */
function parseStatistics(bytes: Buffer): LinkStatistics {
  function count(at: number): number {
    return Number(bytes.readBigUInt64LE(at * 8))
  }
  return {
    rxPackets: count(0),
    txPackets: count(1),
    rxBytes: count(2),
    txBytes: count(3),
    rxErrors: count(4),
    txErrors: count(5),
    rxDropped: count(6),
    txDropped: count(7),
  }
}

/** struct ifinfomsg: family, type, index, flags, which flags count. */
function linkHeader(index: number, change: FlagChange = unchanged): Buffer {
  const bytes = Buffer.alloc(headerBytes)
  bytes.writeInt32LE(index, 4)
  bytes.writeUInt32LE(change.flags, 8)
  bytes.writeUInt32LE(change.mask, 12)
  return bytes
}

function flagChange({ up, arp }: LinkChange): FlagChange {
  return {
    flags: (up === true ? linkFlag.up : 0) | (arp === false ? linkFlag.noArp : 0),
    mask: (up === undefined ? 0 : linkFlag.up) | (arp === undefined ? 0 : linkFlag.noArp),
  }
}

function flagsFor(up: boolean | undefined): FlagChange {
  return up === true ? { flags: linkFlag.up, mask: linkFlag.up } : unchanged
}

function linkInfo(kind: string, data: readonly Buffer[]): Buffer {
  return nested(ifla.linkInfo, [
    attribute(infoKind, text(kind)),
    ...(data.length === 0 ? [] : [nested(infoData, data)]),
  ])
}

function mtuAndMac(wanted: { readonly mtu?: number; readonly mac?: string }): Buffer[] {
  return [
    ...(wanted.mtu === undefined ? [] : [attribute(ifla.mtu, u32(wanted.mtu))]),
    ...(wanted.mac === undefined ? [] : [attribute(ifla.address, encodeMac('mac', wanted.mac))]),
  ]
}

function extendedMask(): Buffer {
  return attribute(ifla.extendedMask, u32(skipStatistics))
}

/** Links are found by alternative names as well, which may be longer than names. */
function queriedName(name: string): Buffer {
  return Buffer.byteLength(name) > maximumNameBytes
    ? attribute(ifla.alternativeName, text(name))
    : attribute(ifla.name, linkName(name))
}

function linkName(name: string): Buffer {
  const length = Buffer.byteLength(name)
  if (length < 1 || length > maximumNameBytes || /[/\s\0]/.test(name) || name === '.' || name === '..') {
    throw new InvalidNetlinkValueError({
      field: 'name',
      value: name,
      expected: `an interface name: 1 to ${maximumNameBytes} bytes without slash and space`,
    })
  }
  return text(name)
}

import { attribute, parseAttributes } from './attributes.ts'
import { InvalidNetlinkValueError } from './errors.ts'
import {
  addressFamily,
  decodeAddress,
  decodeMac,
  encodeAddress,
  encodeMac,
  familyOf,
  familyOfBytes,
} from './inet.ts'
import type { NeighbourInfo, NeighbourRequest, NeighbourState } from './types.ts'

/** RTM_* of linux/rtnetlink.h. */
export const neighbourType = { created: 28, removed: 29, get: 30 } as const

/** NDA_* of linux/neighbour.h. */
const nda = { address: 1, linkLayerAddress: 2 } as const
/** NTF_PROXY and NTF_USE. */
const proxyFlag = 0x08
const useFlag = 0x01
const headerBytes = 12

/** NUD_* of linux/neighbour.h. */
const states = {
  none: 0,
  incomplete: 0x01,
  reachable: 0x02,
  stale: 0x04,
  delay: 0x08,
  probe: 0x10,
  failed: 0x20,
  noarp: 0x40,
  permanent: 0x80,
} as const satisfies Record<NeighbourState, number>

const stateNames = new Map<number, NeighbourState>(
  (Object.keys(states) as NeighbourState[]).map((name) => [states[name], name]),
)

/** Proxy entries are a list of their own. */
export function encodeNeighbourList(proxies: boolean): Buffer {
  return neighbourHeader({ family: 0, index: 0, state: 0, flags: proxies ? proxyFlag : 0 })
}

export function encodeNeighbour(request: NeighbourRequest): Buffer {
  const { index, address, mac, isProxy = false } = request
  if (mac === undefined && !isProxy) {
    throw new InvalidNetlinkValueError({ field: 'mac', value: '', expected: 'a MAC, or isProxy' })
  }
  const bytes = encodeAddress('address', address)
  const family = addressFamily[familyOfBytes(bytes)]
  const state = isProxy ? 0 : states[request.state ?? 'permanent']
  return Buffer.concat([
    neighbourHeader({ family, index, state, flags: isProxy ? proxyFlag : 0 }),
    attribute(nda.address, bytes),
    ...(mac === undefined ? [] : [attribute(nda.linkLayerAddress, encodeMac('mac', mac))]),
  ])
}

/** Asks the kernel to use the neighbour, as `ip neighbour add … use` does: it looks for its MAC address. */
export function encodeNeighbourUse(index: number, address: string): Buffer {
  const bytes = encodeAddress('address', address)
  const family = addressFamily[familyOfBytes(bytes)]
  return Buffer.concat([
    neighbourHeader({ family, index, state: states.none, flags: useFlag }),
    attribute(nda.address, bytes),
  ])
}

export function encodeNeighbourRemoval(index: number, address: string, isProxy: boolean): Buffer {
  const bytes = encodeAddress('address', address)
  const family = addressFamily[familyOfBytes(bytes)]
  return Buffer.concat([
    neighbourHeader({ family, index, state: 0, flags: isProxy ? proxyFlag : 0 }),
    attribute(nda.address, bytes),
  ])
}

/** Reads a struct ndmsg and its attributes; `undefined` for families other than IPv4 and IPv6 (bridge entries). */
export function parseNeighbour(body: Buffer): NeighbourInfo | undefined {
  const family = familyOf(body.readUInt8(0))
  const found = parseAttributes(body.subarray(headerBytes))
  const address = found.get(nda.address)
  if (family === undefined || address === undefined) return undefined
  const mac = found.get(nda.linkLayerAddress)
  return {
    family,
    index: body.readInt32LE(4),
    address: decodeAddress(address),
    state: stateNames.get(body.readUInt16LE(8)) ?? 'none',
    isProxy: (body.readUInt8(10) & proxyFlag) !== 0,
    ...(mac?.length === 6 ? { mac: decodeMac(mac) } : {}),
  }
}

/** struct ndmsg: family, padding, index, state, flags, type. */
function neighbourHeader(of: { family: number; index: number; state: number; flags: number }): Buffer {
  const bytes = Buffer.alloc(headerBytes)
  bytes.writeUInt8(of.family, 0)
  bytes.writeInt32LE(of.index, 4)
  bytes.writeUInt16LE(of.state, 8)
  bytes.writeUInt8(of.flags, 10)
  return bytes
}

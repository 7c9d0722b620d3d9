import { netlinkError } from './errors.ts'
import { addressOf, errnoName, ioctl } from './libc.ts'
import type { OffloadState } from './types.ts'

/** SIOCETHTOOL of linux/sockios.h. Every kind of socket takes it, and answers for its own namespace. */
const ethtoolRequest = 0x8946

/** ETHTOOL_G*: struct ethtool_value, a command and a number. */
const query = {
  rxChecksum: 0x14,
  txChecksum: 0x16,
  scatterGather: 0x18,
  tcpSegmentation: 0x1e,
  genericSegmentation: 0x23,
  genericReceive: 0x2b,
} as const satisfies Record<keyof OffloadState, number>

/**
 * ETHTOOL_STXCSUM: sets every kind of transmit checksum (IPv4, IPv6, generic, SCTP, FCoE) at once. The kernel then drops
 * what depends on it, such as TCP segmentation.
 */
const setTxChecksum = 0x17

const nameBytes = 16
/** struct ifreq: the name, then a union whose first member here is a pointer. */
const requestBytes = 40

/** Reads the features of a link in the socket's namespace; `undefined` if there is no such link. */
export function readOffload(socket: number, name: string): OffloadState | undefined {
  const rxChecksum = readFeature(socket, name, query.rxChecksum)
  if (rxChecksum === undefined) return undefined
  return {
    rxChecksum,
    txChecksum: readFeature(socket, name, query.txChecksum) ?? false,
    scatterGather: readFeature(socket, name, query.scatterGather) ?? false,
    tcpSegmentation: readFeature(socket, name, query.tcpSegmentation) ?? false,
    genericSegmentation: readFeature(socket, name, query.genericSegmentation) ?? false,
    genericReceive: readFeature(socket, name, query.genericReceive) ?? false,
  }
}

/** Switches transmit checksum offload off; yields whether it was on. Throws if the device cannot do without. */
export function switchTxChecksumOff(socket: number, name: string): boolean {
  const before = readFeature(socket, name, query.txChecksum)
  if (before === undefined) throw refusal(name, 'ENODEV')
  if (!before) return false
  const value = ethtoolValue(setTxChecksum)
  const answer = callEthtool(socket, name, value)
  if (answer < 0) throw refusal(name, errnoName(answer))
  if (readFeature(socket, name, query.txChecksum) === true) throw refusal(name, 'EOPNOTSUPP')
  return true
}

function readFeature(socket: number, name: string, command: number): boolean | undefined {
  // A name cut short might be that of another link.
  if (Buffer.byteLength(name) >= nameBytes) return undefined
  const value = ethtoolValue(command)
  const answer = callEthtool(socket, name, value)
  if (answer >= 0) return value.readUInt32LE(4) !== 0
  const errno = errnoName(answer)
  if (errno === 'ENODEV') return undefined
  throw refusal(name, errno)
}

function ethtoolValue(command: number): Buffer {
  const value = Buffer.alloc(8)
  value.writeUInt32LE(command, 0)
  return value
}

function callEthtool(socket: number, name: string, value: Buffer): number {
  const request = Buffer.alloc(requestBytes)
  request.write(name, 0, nameBytes - 1)
  request.writeBigUInt64LE(addressOf(value), nameBytes)
  return ioctl(socket, ethtoolRequest, request)
}

function refusal(name: string, errno: string): Error {
  return netlinkError({ operation: 'ethtool offload', subject: name, errno })
}

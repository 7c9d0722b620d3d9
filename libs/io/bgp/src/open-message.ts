import { formatIp, parseIpv4, type Ipv4 } from '@kube-ovn/ip'
import { uint16, uint32, uint8, ByteReader } from './byte-reader.ts'
import { decodeCapabilities, encodeCapabilities, type Capabilities } from './capabilities.ts'
import { BgpMessageError } from './errors.ts'
import { errorCode, openError } from './notification.ts'

/** How a speaker introduces itself. */
export interface OpenMessage {
  readonly type: 'open'
  /** Of four bytes, when it said so in its capabilities. */
  readonly as: number
  /** 0, or 3 to 65535. */
  readonly holdTimeS: number
  /** As an IPv4 address. */
  readonly identifier: string
  readonly capabilities: Capabilities
}

const version = 4
/** The number that stands for those that take four bytes. */
const asTrans = 23_456
const capabilitiesParameter = 2
/** Length and type that say that the parameters have lengths of two bytes (RFC 9072). */
const extended = 255

export function encodeOpen({ as, holdTimeS, identifier, capabilities }: OpenMessage): Buffer {
  const list = encodeCapabilities(capabilities)
  return Buffer.concat([
    uint8(version),
    uint16(as > 0xffff ? asTrans : as),
    uint16(holdTimeS),
    uint32(parseIpv4(identifier, 'router-id')),
    parameters(list),
  ])
}

/** @throws BgpMessageError */
export function decodeOpen(body: Buffer): OpenMessage {
  const reader = new ByteReader(body, () => new BgpMessageError(errorCode.open, 0))
  if (reader.uint8() !== version)
    throw new BgpMessageError(errorCode.open, openError.unsupportedVersion, uint16(version))
  const twoOctetAs = reader.uint16()
  const holdTimeS = reader.uint16()
  const identifier = formatIp(reader.uint32() as Ipv4)
  const capabilities = decodeCapabilities(capabilitiesOf(reader))
  const as = capabilities.fourOctetAs ?? twoOctetAs
  return { type: 'open', as, holdTimeS, identifier, capabilities }
}

function parameters(list: Buffer): Buffer {
  if (list.length === 0) return uint8(0)
  if (list.length + 2 < extended)
    return Buffer.concat([uint8(list.length + 2), uint8(capabilitiesParameter), uint8(list.length), list])
  return Buffer.concat([
    ...[uint8(extended), uint8(extended), uint16(list.length + 3)],
    ...[uint8(capabilitiesParameter), uint16(list.length), list],
  ])
}

/** The capabilities of all parameters, one behind the other. */
function capabilitiesOf(reader: ByteReader): ByteReader {
  const short = (): BgpMessageError => new BgpMessageError(errorCode.open, 0)
  const length = reader.uint8()
  const rest = reader.rest()
  const isExtended = length > 0 && rest[0] === extended
  const all = new ByteReader(rest, short)
  if (isExtended) all.take(1)
  const list = all.part(isExtended ? all.uint16() : length)
  if (all.left > 0) throw short()
  const capabilities: Buffer[] = []
  while (list.left > 0) {
    const type = list.uint8()
    const value = list.take(isExtended ? list.uint16() : list.uint8())
    if (type !== capabilitiesParameter)
      throw new BgpMessageError(errorCode.open, openError.unsupportedParameter)
    capabilities.push(value)
  }
  return new ByteReader(Buffer.concat(capabilities), short)
}

import { afiOf, familyOfAfi, unicast, type AddressFamily } from './address-family.ts'
import { uint16, uint8 } from './byte-reader.ts'
import { BgpMessageError } from './errors.ts'
import { errorCode, headerError } from './notification.ts'
import { decodeOpen, encodeOpen, type OpenMessage } from './open-message.ts'
import { decodeUpdate, encodeUpdate, type UpdateMessage } from './update-message.ts'

/** Why who sends it ends the session. */
interface NotificationMessage {
  readonly type: 'notification'
  readonly errorCode: number
  readonly subcode: number
  readonly data: Buffer
}

/** Asks for all routes of a family (RFC 2918); `undefined` of one that is not spoken. */
interface RouteRefreshMessage {
  readonly type: 'route-refresh'
  readonly family: AddressFamily | undefined
}

export type Message =
  OpenMessage | UpdateMessage | NotificationMessage | RouteRefreshMessage | { readonly type: 'keepalive' }

export type MessageType = Message['type']

/** What a message of a session needs to be read and written. */
export interface MessageContext {
  /** Whether both speakers know AS numbers of four bytes. */
  readonly hasFourOctetAs: boolean
}

const typeNumber = {
  open: 1,
  update: 2,
  notification: 3,
  keepalive: 4,
  'route-refresh': 5,
} as const satisfies Record<MessageType, number>
const typeNames = new Map(
  Object.entries(typeNumber).map(([name, number]): [number, MessageType] => [number, name as MessageType]),
)

const marker = Buffer.alloc(16, 0xff)
export const headerBytes = 19
/** Longest message (RFC 4271, section 4.1). */
export const longestMessage = 4096
/** Shortest by type, header included. */
const shortest = { open: 29, update: 23, notification: 21, keepalive: 19, 'route-refresh': 23 } as const

export function encodeMessage(message: Message, context: MessageContext): Buffer {
  const body = bodyOf(message, context)
  return Buffer.concat([marker, uint16(headerBytes + body.length), uint8(typeNumber[message.type]), body])
}

/**
 * Reads a header: how long the whole message is, and of which type.
 *
 * @param header at least 19 bytes
 * @throws BgpMessageError
 */
export function decodeHeader(header: Buffer): { readonly length: number; readonly type: MessageType } {
  if (!header.subarray(0, marker.length).equals(marker))
    throw new BgpMessageError(errorCode.header, headerError.notSynchronized)
  const length = header.readUInt16BE(16)
  const number = header.readUInt8(18)
  const type = typeNames.get(number)
  if (type === undefined) throw new BgpMessageError(errorCode.header, headerError.badType, uint8(number))
  const isRight =
    length <= longestMessage && (type === 'keepalive' ? length === headerBytes : length >= shortest[type])
  if (!isRight) throw new BgpMessageError(errorCode.header, headerError.badLength, uint16(length))
  return { length, type }
}

/** Reads what is behind a header. @throws BgpMessageError */
export function decodeBody(type: MessageType, body: Buffer, { hasFourOctetAs }: MessageContext): Message {
  switch (type) {
    case 'open':
      return decodeOpen(body)
    case 'update':
      return decodeUpdate(body, hasFourOctetAs)
    case 'notification':
      return {
        type,
        errorCode: body.readUInt8(0),
        subcode: body.readUInt8(1),
        data: Buffer.from(body.subarray(2)),
      }
    case 'keepalive':
      return { type }
    case 'route-refresh':
      return { type, family: familyOfAfi(body.readUInt16BE(0), body.readUInt8(3)) }
  }
}

function bodyOf(message: Message, { hasFourOctetAs }: MessageContext): Buffer {
  switch (message.type) {
    case 'open':
      return encodeOpen(message)
    case 'update':
      return encodeUpdate(message, hasFourOctetAs)
    case 'notification':
      return Buffer.concat([uint8(message.errorCode), uint8(message.subcode), message.data])
    case 'keepalive':
      return Buffer.alloc(0)
    case 'route-refresh':
      return Buffer.concat([uint16(afiOf[message.family ?? 'ipv4']), uint8(0), uint8(unicast)])
  }
}

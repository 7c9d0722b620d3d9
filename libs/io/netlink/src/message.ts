import { align, parseAttributes, readText } from './attributes.ts'

/** Flags of a request: NLM_F_* of linux/netlink.h. */
export const requestFlag = {
  request: 0x1,
  acknowledge: 0x4,
  echo: 0x8,
  dump: 0x300,
  replace: 0x100,
  exclusive: 0x200,
  create: 0x400,
} as const

const replyFlag = { dumpInterrupted: 0x10, capped: 0x100, explained: 0x200 } as const

const controlType = { error: 2, done: 3 } as const
const headerBytes = 16

/** One message of a reply or an event: its RTM_* type and what follows the header. */
export interface Message {
  readonly type: number
  readonly body: Buffer
}

/** What the kernel says at the end of a request. */
interface Acknowledgement {
  /** 0 for success, else a positive error number. */
  readonly errno: number
  /** The extended acknowledgement's sentence. */
  readonly kernelMessage?: string
  /** Where in our request the attribute lies that the kernel objects to. */
  readonly attributeOffset?: number
}

/** One datagram from the kernel, taken apart. */
export interface Datagram {
  readonly messages: readonly Message[]
  /** Present when the reply is complete. */
  readonly acknowledgement?: Acknowledgement
  /** The table changed while it was being listed; the list may be inconsistent and must be asked for again. */
  readonly isInterrupted: boolean
}

export function encodeRequest(type: number, flags: number, sequence: number, body: Buffer): Buffer {
  const bytes = Buffer.alloc(headerBytes + align(body.length))
  bytes.writeUInt32LE(headerBytes + body.length, 0)
  bytes.writeUInt16LE(type, 4)
  bytes.writeUInt16LE(flags, 6)
  bytes.writeUInt32LE(sequence, 8)
  body.copy(bytes, headerBytes)
  return bytes
}

/** Takes a datagram apart. With a sequence number, messages of other requests (given up earlier) are left out. */
export function parseDatagram(bytes: Buffer, sequence?: number): Datagram {
  const messages: Message[] = []
  let acknowledgement: Acknowledgement | undefined
  let isInterrupted = false
  let offset = 0
  while (offset + headerBytes <= bytes.length) {
    const length = bytes.readUInt32LE(offset)
    if (length < headerBytes || offset + length > bytes.length) break
    const type = bytes.readUInt16LE(offset + 4)
    const flags = bytes.readUInt16LE(offset + 6)
    const body = bytes.subarray(offset + headerBytes, offset + length)
    if (sequence === undefined || bytes.readUInt32LE(offset + 8) === sequence) {
      if ((flags & replyFlag.dumpInterrupted) !== 0) isInterrupted = true
      if (type === controlType.error) acknowledgement = parseError(body, flags)
      else if (type === controlType.done) acknowledgement = parseDone(body, flags)
      else messages.push({ type, body })
    }
    offset += align(length)
  }
  return { messages, isInterrupted, ...(acknowledgement === undefined ? {} : { acknowledgement }) }
}

/** Reads the type of the attribute at an offset of an encoded request. */
export function attributeTypeAt(request: Buffer, offset: number): number | undefined {
  return offset + 4 <= request.length ? request.readUInt16LE(offset + 2) & 0x3fff : undefined
}

/** struct nlmsgerr: the error, the header it answers, the rest of the request unless capped, explanations. */
function parseError(body: Buffer, flags: number): Acknowledgement {
  const requestLength = (flags & replyFlag.capped) !== 0 ? headerBytes : align(body.readUInt32LE(4))
  return explain(-body.readInt32LE(0), body.subarray(4 + requestLength), flags)
}

function parseDone(body: Buffer, flags: number): Acknowledgement {
  return body.length < 4 ? { errno: 0 } : explain(-body.readInt32LE(0), body.subarray(4), flags)
}

function explain(errno: number, explanations: Buffer, flags: number): Acknowledgement {
  // The DONE of a dump carries its count as a positive number.
  const failure = Math.max(0, errno)
  if ((flags & replyFlag.explained) === 0) return { errno: failure }
  const found = parseAttributes(explanations)
  const message = found.get(1)
  const attributeOffset = found.get(2)
  return {
    errno: failure,
    ...(message === undefined ? {} : { kernelMessage: readText(message) }),
    ...(attributeOffset === undefined ? {} : { attributeOffset: attributeOffset.readUInt32LE(0) }),
  }
}

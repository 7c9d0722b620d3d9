import { describe, expect, it } from 'vitest'
import { linkReply, refusedList, refusedRoute } from './__golden__/captures.ts'
import { attributeTypeAt, encodeRequest, parseDatagram, requestFlag } from './message.ts'

function only(datagrams: readonly Buffer[]): Buffer {
  const [datagram] = datagrams
  if (datagram === undefined) throw new Error('empty capture')
  return datagram
}

describe('encodeRequest', () => {
  it('writes the header in host order and pads the body, which the length does not count', () => {
    const bytes = encodeRequest(26, requestFlag.request | requestFlag.dump, 7, Buffer.from([10]))
    expect(bytes.toString('hex')).toBe('11000000' + '1a000103' + '07000000' + '00000000' + '0a000000')
  })
})

describe('parseDatagram', () => {
  it('yields the messages of a reply and, in the last datagram, the acknowledgement', () => {
    const [reply, end] = linkReply.map((bytes) => parseDatagram(bytes, 7))
    expect(reply?.messages.map(({ type }) => type)).toEqual([16])
    expect(reply?.acknowledgement).toBeUndefined()
    expect(end).toEqual({ messages: [], isInterrupted: false, acknowledgement: { errno: 0 } })
  })

  it('yields the error number and the sentence of a refusal', () => {
    expect(parseDatagram(only(refusedRoute), 7).acknowledgement).toEqual({
      errno: 101,
      kernelMessage: 'Nexthop has invalid gateway',
    })
  })

  it('reads the refusal of a list, which comes in its end', () => {
    expect(parseDatagram(only(refusedList), 7).acknowledgement).toEqual({
      errno: 2,
      kernelMessage: 'ipv4: FIB table does not exist',
    })
  })

  it('leaves out replies to other requests', () => {
    expect(parseDatagram(only(refusedRoute), 8)).toEqual({ messages: [], isInterrupted: false })
  })

  it('stops at a message that claims to be longer than the datagram', () => {
    const cut = only(linkReply).subarray(0, 200)
    expect(parseDatagram(cut).messages).toEqual([])
  })

  it('notices that a list changed while it was made', () => {
    const bytes = Buffer.from(only(linkReply))
    bytes.writeUInt16LE(0x10, 6)
    expect(parseDatagram(bytes, 7).isInterrupted).toBe(true)
  })
})

describe('attributeTypeAt', () => {
  it('reads the type without the nested flag', () => {
    expect(attributeTypeAt(Buffer.from('0000000008001280', 'hex'), 4)).toBe(0x12)
  })

  it('yields nothing beyond the end', () => {
    expect(attributeTypeAt(Buffer.alloc(4), 4)).toBeUndefined()
  })
})

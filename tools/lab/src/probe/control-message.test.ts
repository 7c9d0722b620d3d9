import { describe, expect, it } from 'vitest'
import { parseControlMessages } from './control-message.ts'

/** A struct cmsghdr of 64 bit with its data, padded. */
function message(level: number, type: number, data: readonly number[]): Buffer {
  const header = Buffer.alloc(16)
  header.writeBigUInt64LE(BigInt(16 + data.length))
  header.writeInt32LE(level, 8)
  header.writeInt32LE(type, 12)
  const padding = Buffer.alloc((8 - (data.length % 8)) % 8)
  return Buffer.concat([header, Buffer.from(data), padding])
}

describe('parseControlMessages', () => {
  it('reads TTL and DSCP of IPv4, of which the second comes as a single byte', () => {
    const control = Buffer.concat([message(0, 2, [62, 0, 0, 0]), message(0, 1, [0xb8])])
    expect(parseControlMessages(control)).toEqual({ ttl: 62, dscp: 46 })
  })

  it('reads hop limit and DSCP of IPv6', () => {
    const control = Buffer.concat([message(41, 52, [255, 0, 0, 0]), message(41, 67, [0x28, 0, 0, 0])])
    expect(parseControlMessages(control)).toEqual({ ttl: 255, dscp: 10 })
  })

  it('passes over what it does not know', () => {
    const control = Buffer.concat([message(1, 29, [1, 2, 3, 4, 5]), message(0, 2, [64, 0, 0, 0])])
    expect(parseControlMessages(control)).toEqual({ ttl: 64 })
  })

  it('stops at a message that says it is longer than what there is', () => {
    expect(parseControlMessages(message(0, 2, [64, 0, 0, 0]).subarray(0, 18))).toEqual({})
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Capabilities } from './capabilities.ts'
import { BgpMessageError } from './errors.ts'
import { MessageStream } from './message-stream.ts'
import { encodeMessage, longestMessage, type Message } from './message.ts'
import { origins, type PathAttributes } from './path-attributes.ts'
import { endedFamily, endOfRib, updateOf } from './update-message.ts'

const context = { hasFourOctetAs: true }

const uint = (bits: number): fc.Arbitrary<number> => fc.nat({ max: 2 ** bits - 1 })
const ipv4 = uint(32).map((n) => [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255].join('.'))
const prefix4 = fc.tuple(uint(32), fc.nat({ max: 32 })).map(([n, length]) => {
  const network = length === 0 ? 0 : (n & (-1 << (32 - length))) >>> 0
  return `${[network >>> 24, (network >>> 16) & 255, (network >>> 8) & 255, network & 255].join('.')}/${length}`
})
const hop6 = fc.nat({ max: 0xfffe }).map((n) => `fd00::${(n + 1).toString(16)}`)
const prefix6 = fc
  .tuple(fc.nat({ max: 0xfffe }), fc.constantFrom(64, 112, 128))
  .map(([n, length]) => `fd00:${(n + 1).toString(16)}::/${length}`)
const family = fc.constantFrom('ipv4' as const, 'ipv6' as const)

const capabilities: fc.Arbitrary<Capabilities> = fc.record({
  families: fc.option(fc.uniqueArray(family, { minLength: 1 }), { nil: undefined }),
  routeRefresh: fc.boolean(),
  extendedNextHop: fc.boolean(),
  fourOctetAs: fc.option(uint(32), { nil: undefined }),
  gracefulRestart: fc.option(
    fc.record({
      isRestarting: fc.boolean(),
      timeS: uint(12),
      families: fc
        .uniqueArray(family)
        .map((list) => new Map(list.map((name, index) => [name, { keptForwarding: index === 0 }]))),
    }),
    { nil: undefined },
  ),
})

const path: fc.Arbitrary<PathAttributes> = fc.record(
  {
    origin: fc.constantFrom(...origins),
    asPath: fc.array(
      fc.record({
        kind: fc.constantFrom('set' as const, 'sequence' as const),
        numbers: fc.array(uint(32), { minLength: 1, maxLength: 8 }),
      }),
      { maxLength: 3 },
    ),
    nextHop: ipv4,
    med: uint(32),
    localPreference: uint(32),
    communities: fc.array(
      fc.tuple(uint(16), uint(16)).map((numbers) => numbers.join(':')),
      { minLength: 1, maxLength: 90 },
    ),
    largeCommunities: fc.array(
      fc.tuple(uint(32), uint(32), uint(32)).map((numbers) => numbers.join(':')),
      { minLength: 1, maxLength: 30 },
    ),
  },
  { requiredKeys: ['origin', 'asPath'] },
)

const few = { maxLength: 20 } as const
const update = fc
  .record(
    {
      withdrawn: fc.array(prefix4, few),
      path,
      announced: fc.array(prefix4, few),
      reachable: fc.oneof(
        fc.record({ family: fc.constant('ipv6' as const), nextHop: hop6, prefixes: fc.array(prefix6, few) }),
        fc.record({ family: fc.constant('ipv4' as const), nextHop: hop6, prefixes: fc.array(prefix4, few) }),
      ),
      unreachable: fc.record({ family: fc.constant('ipv6' as const), prefixes: fc.array(prefix6, few) }),
    },
    { requiredKeys: [] },
  )
  .map(updateOf)

const message: fc.Arbitrary<Message> = fc.oneof(
  update,
  fc.record({ type: fc.constant('keepalive' as const) }),
  fc.record({ type: fc.constant('route-refresh' as const), family }),
  fc.record({
    type: fc.constant('notification' as const),
    errorCode: uint(8),
    subcode: uint(8),
    data: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  }),
  fc
    .record({ identifier: ipv4, holdTimeS: uint(16), as: uint(32), capabilities })
    .map(({ as, capabilities, ...rest }) => ({
      ...{ type: 'open' as const, ...rest, capabilities },
      as: capabilities.fourOctetAs ?? as & 0xffff,
    })),
)

function read(bytes: Buffer, knows = context): readonly Message[] {
  const messages: Message[] = []
  new MessageStream().push(
    bytes,
    () => knows,
    (message) => messages.push(message),
  )
  return messages
}

describe('messages', () => {
  it('are read as they were written, however they are cut on the way', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), fc.nat({ max: 60 }), (messages, size) => {
        const bytes = Buffer.concat(messages.map((message) => encodeMessage(message, context)))
        const stream = new MessageStream()
        const found: Message[] = []
        for (let at = 0; at < bytes.length; at += size + 1)
          stream.push(
            bytes.subarray(at, at + size + 1),
            () => context,
            (message) => found.push(message),
          )
        expect(found).toEqual(messages)
      }),
    )
  })

  it('have a number of two bytes for AS numbers that a peer does not know, and the true one beside it', () => {
    const sent = updateOf({
      path: {
        origin: 'igp',
        asPath: [{ kind: 'sequence', numbers: [65_001, 4_200_000_000] }],
        nextHop: '10.0.0.1',
      },
      announced: ['10.16.0.0/16'],
    })
    const bytes = encodeMessage(sent, { hasFourOctetAs: false })
    const [seen] = read(bytes, { hasFourOctetAs: false })
    expect(seen).toMatchObject({ path: { asPath: [{ kind: 'sequence', numbers: [65_001, 23_456] }] } })
    // Type 17, one sequence of two numbers.
    expect(bytes.toString('hex')).toContain('c0110a02020000fde9fa56ea00')
  })

  it('end the routes of a family', () => {
    for (const name of ['ipv4', 'ipv6'] as const) {
      const [seen] = read(encodeMessage(endOfRib(name), context))
      expect(seen?.type === 'update' && endedFamily(seen)).toBe(name)
    }
    expect(encodeMessage(endOfRib('ipv4'), context)).toHaveLength(23)
    expect(endedFamily(updateOf({ withdrawn: ['10.0.0.0/8'] }))).toBeUndefined()
  })

  it('may say their parameters in the long way', () => {
    const body = '04fde8005a0a000001' + 'ffff000f' + '02000c' + '010400010001' + '410400010000'
    const open = Buffer.from(
      `${'ff'.repeat(16)}${(19 + body.length / 2).toString(16).padStart(4, '0')}01${body}`,
      'hex',
    )
    expect(read(open)).toMatchObject([
      {
        type: 'open',
        as: 65_536,
        holdTimeS: 90,
        identifier: '10.0.0.1',
        capabilities: { families: ['ipv4'] },
      },
    ])
  })
})

describe('what a peer sends', () => {
  it('is a message or is refused with what to tell the peer, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 2, 3, 4, 5, 0, 9),
        fc.uint8Array({ maxLength: 300 }),
        fc.option(fc.nat({ max: 5000 }), { nil: undefined }),
        (type, body, length) => {
          const header = Buffer.alloc(19, 0xff)
          header.writeUInt16BE(length ?? 19 + body.length, 16)
          header.writeUInt8(type, 18)
          checkRefused(() => read(Buffer.concat([header, body])))
        },
      ),
      { numRuns: 3000 },
    )
  })

  it('is refused or read when a byte of it is wrong', () => {
    fc.assert(
      fc.property(message, fc.nat(), uint(8), (message, at, byte) => {
        const bytes = encodeMessage(message, context)
        bytes.writeUInt8(byte, at % bytes.length)
        checkRefused(() => read(bytes))
      }),
      { numRuns: 3000 },
    )
  })

  it('loses its routes alone for an attribute that is malformed', () => {
    const good = encodeMessage(
      updateOf({ path: { origin: 'igp', asPath: [], nextHop: '10.0.0.1' }, announced: ['10.1.0.0/16'] }),
      context,
    )
    const bad = Buffer.from(good)
    // The value of ORIGIN: header, two lengths, flags, type, length.
    bad.writeUInt8(7, 19 + 4 + 3)
    expect(read(bad)).toMatchObject([{ malformed: [1], announced: ['10.1.0.0/16'] }])
  })

  it('loses its routes alone for a list of attributes that ends within one, as long as it is known which they are', () => {
    const path = { origin: 'igp', asPath: [], nextHop: '10.0.0.1', med: 5 } as const
    const good = encodeMessage(updateOf({ path, announced: ['10.1.0.0/16'] }), context)
    // The length of MED, the last attribute: three bytes of prefix and four of value are behind it.
    const lengthAt = good.length - 3 - 4 - 1
    for (const length of [5, 200]) {
      const bad = Buffer.from(good)
      bad.writeUInt8(length, lengthAt)
      expect(read(bad)).toMatchObject([{ malformed: [4], announced: ['10.1.0.0/16'] }])
    }
    // Nothing but the first byte of an attribute.
    const cut = Buffer.concat([good.subarray(0, 19 + 4), Buffer.from([0x40]), good.subarray(-3)])
    cut.writeUInt16BE(cut.length, 16)
    cut.writeUInt16BE(1, 19 + 2)
    expect(read(cut)).toMatchObject([{ malformed: [0], announced: ['10.1.0.0/16'] }])
    const reachable = { family: 'ipv6', nextHop: 'fd00::1', prefixes: ['fd00:1::/64'] } as const
    const unknown = encodeMessage(updateOf({ reachable }), context)
    unknown.writeUInt8(200, 19 + 4 + 2)
    expect(refusal(unknown)).toEqual([3, 1, ''])
  })

  it('is refused with the codes of RFC 4271', () => {
    const keepalive = encodeMessage({ type: 'keepalive' }, context)
    const changed = (at: number, value: number): Buffer => {
      const bytes = Buffer.from(keepalive)
      bytes.writeUInt8(value, at)
      return bytes
    }
    expect(refusal(changed(3, 0))).toEqual([1, 1, ''])
    expect(refusal(changed(17, 20))).toEqual([1, 2, '0014'])
    expect(refusal(changed(16, 0xff))).toEqual([1, 2, 'ff13'])
    expect(refusal(changed(18, 77))).toEqual([1, 3, '4d'])
    const open = encodeMessage(
      {
        ...{ type: 'open', as: 65_000, holdTimeS: 90, identifier: '10.0.0.1' },
        capabilities: {
          families: undefined,
          routeRefresh: false,
          extendedNextHop: false,
        } as unknown as Capabilities,
      },
      context,
    )
    open.writeUInt8(3, 19)
    expect(refusal(open)).toEqual([2, 1, '0004'])
    expect(longestMessage).toBe(4096)
  })
})

function checkRefused(action: () => unknown): void {
  try {
    action()
  } catch (error) {
    expect(error).toBeInstanceOf(BgpMessageError)
  }
}

function refusal(bytes: Buffer): unknown {
  try {
    return read(bytes)
  } catch (error) {
    if (!(error instanceof BgpMessageError)) throw error
    return [error.details.errorCode, error.details.subcode, error.data.toString('hex')]
  }
}

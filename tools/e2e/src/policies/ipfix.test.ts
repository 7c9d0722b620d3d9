import { expect, it } from 'vitest'
import { informationElement, IpfixDecoder } from './ipfix.ts'

const { destinationIpv4, observationDomainId, observationPointId } = informationElement

function words(...numbers: readonly number[]): Buffer {
  return Buffer.concat(
    numbers.map((number) => {
      const word = Buffer.alloc(2)
      word.writeUInt16BE(number)
      return word
    }),
  )
}

function set(id: number, content: Buffer): Buffer {
  return Buffer.concat([words(id, content.length + 4), content])
}

function message(...sets: readonly Buffer[]): Buffer {
  const rest = Buffer.concat([Buffer.alloc(8), Buffer.from('02000007', 'hex'), ...sets])
  return Buffer.concat([words(10, rest.length + 4), rest])
}

const template = set(
  2,
  Buffer.concat([
    words(256, 4, observationPointId, 4, 0x80_00 + 891, 1, 0, 9, destinationIpv4, 4, 82, 65_535),
  ]),
)
const record = (cookie: string, address: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${cookie}ff${address}`, 'hex'), Buffer.from([name.length]), Buffer.from(name)])

it('reads records by templates that came before, and nothing without', () => {
  const decoder = new IpfixDecoder()
  const data = set(
    256,
    Buffer.concat([record('51f3a2c9', '0a100002', 'eth0'), record('00000001', '0a100003', '')]),
  )
  expect(decoder.read(message(data))).toEqual([])
  expect(decoder.read(message(template))).toEqual([])
  const records = decoder.read(message(data))
  expect(
    records.map((one) =>
      [observationPointId, destinationIpv4, observationDomainId].map((element) =>
        one.get(element)?.toString('hex'),
      ),
    ),
  ).toEqual([
    ['51f3a2c9', '0a100002', '02000007'],
    ['00000001', '0a100003', '02000007'],
  ])
})

it('knows a template in the message of its records, and what fills a set up', () => {
  const data = set(256, Buffer.concat([record('51f3a2c9', '0a100002', ''), Buffer.alloc(3)]))
  expect(new IpfixDecoder().read(message(template, data))).toHaveLength(1)
})

it('refuses what is no message', () => {
  expect(() => new IpfixDecoder().read(Buffer.concat([words(9, 16), Buffer.alloc(12)]))).toThrow('no message')
})

import { describe, expect, it } from 'vitest'
import { ipVethRequest, ipVlanRequest } from './__golden__/captures.ts'
import { eachAttribute } from './attributes.ts'
import { encodeVeth, encodeVlan, parseLink } from './link-message.ts'

const ifinfoBytes = 16
const linkInfo = 18
const infoData = 2
const vethPeer = 1

interface Tree {
  readonly [type: number]: string | Tree
}

/** The attributes of a request to make a link, without their order and without the zero that may end a text. */
function tree(bytes: Buffer, path: readonly number[] = []): Tree {
  return Object.fromEntries(
    [...eachAttribute(bytes)].map(({ type, value }): [number, string | Tree] => {
      const here = [...path, type].join()
      if (here === `${linkInfo}` || here === `${linkInfo},${infoData}`)
        return [type, tree(value, [...path, type])]
      if (here === `${linkInfo},${infoData},${vethPeer}` && value.length > ifinfoBytes) {
        return [type, tree(value.subarray(ifinfoBytes))]
      }
      return [type, value.toString('latin1').replace(/\0+$/, '')]
    }),
  )
}

function linkRequest(bytes: Buffer): { header: string; attributes: Tree } {
  return {
    header: bytes.subarray(0, ifinfoBytes).toString('hex'),
    attributes: tree(bytes.subarray(ifinfoBytes)),
  }
}

describe('the tag of a VLAN', () => {
  it('is read', () => {
    expect(parseLink(encodeVlan({ name: 'br0.7', parentIndex: 2, vlanId: 7 }))).toMatchObject({
      ...{ kind: 'vlan', vlanId: 7, linkIndex: 2 },
    })
  })

  it('is none where it is a service tag', () => {
    const request = encodeVlan({ name: 'br0.7', parentIndex: 2, vlanId: 7 })
    // IFLA_LINKINFO stands at the end, with the protocol 802.1ad as one attribute more: length 6, type 5, padded.
    const protocol = Buffer.from('0600050088a80000', 'hex')
    const longer = Buffer.concat([request, protocol])
    for (const place of nestedPlaces(longer))
      longer.writeUInt16LE(longer.readUInt16LE(place) + protocol.length, place)
    const link = parseLink(longer)
    expect(link.kind).toBe('vlan')
    expect(link.vlanId).toBeUndefined()
  })

  /** Where the lengths of IFLA_LINKINFO and of its IFLA_INFO_DATA stand. */
  function nestedPlaces(bytes: Buffer): readonly number[] {
    const of = (from: number, to: number, wanted: number): number => {
      for (let at = from; at < to; at += Math.ceil(bytes.readUInt16LE(at) / 4) * 4)
        if ((bytes.readUInt16LE(at + 2) & 0x7fff) === wanted) return at
      throw new TypeError('there is no such attribute')
    }
    const info = of(ifinfoBytes, bytes.length, linkInfo)
    return [info, of(info + 4, bytes.length, infoData)]
  }
})

describe('asks the kernel for the same as ip(8):', () => {
  it('a veth pair whose peer is in another namespace', () => {
    const request = encodeVeth(
      {
        name: 'veth0',
        mtu: 1400,
        txQueueLength: 500,
        mac: '02:00:00:00:00:0a',
        peer: { name: 'eth0', mtu: 1400, mac: '02:00:00:00:00:0b' },
      },
      4,
    )
    expect(linkRequest(request)).toEqual(linkRequest(ipVethRequest))
    expect(linkRequest(request).attributes[linkInfo]).toMatchObject({
      [infoData]: { [vethPeer]: { 3: 'eth0' } },
    })
  })

  it('a VLAN', () => {
    const request = encodeVlan({ name: 'br0.7', parentIndex: 2, vlanId: 7 })
    expect(linkRequest(request)).toEqual(linkRequest(ipVlanRequest))
  })
})

import { describe, expect, it } from 'vitest'
import { ipVethRequest, ipVlanRequest } from './__golden__/captures.ts'
import { eachAttribute } from './attributes.ts'
import { encodeVeth, encodeVlan } from './link-message.ts'

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

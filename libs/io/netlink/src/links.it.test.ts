import { readlinkSync } from 'node:fs'
import { missingForNamespaces, openTestNetwork } from '@kube-ovn/testing-net'
import { describe, expect, it } from 'vitest'
import {
  LinkExistsError,
  LinkNotFoundError,
  NamespaceNotFoundError,
  NetlinkError,
  inNamespace,
  openNetlink,
  readSysctl,
  writeSysctl,
  type LinkInfo,
} from './index.ts'

const missing = missingForNamespaces('ethtool')

/** What `ip -json -details link` calls the things that LinkInfo holds. */
interface IpLink {
  readonly ifindex: number
  readonly ifname: string
  readonly mtu: number
  readonly address: string
  readonly flags: readonly string[]
  readonly operstate: string
  readonly txqlen: number
  readonly ifalias?: string
  readonly link_index?: number
  readonly link_netnsid?: number
  readonly altnames?: readonly string[]
  readonly linkinfo?: { readonly info_kind: string }
}

function asIpPrints(link: LinkInfo): Partial<IpLink> {
  return {
    ifindex: link.index,
    ifname: link.name,
    mtu: link.mtu,
    ...(link.mac === undefined ? {} : { address: link.mac }),
    operstate: link.operationalState.toUpperCase(),
    txqlen: link.txQueueLength,
    ...(link.alias === undefined ? {} : { ifalias: link.alias }),
    ...(link.linkIndex === undefined ? {} : { link_index: link.linkIndex }),
    ...(link.linkNetnsId === undefined ? {} : { link_netnsid: link.linkNetnsId }),
    ...(link.altNames.length === 0 ? {} : { altnames: link.altNames }),
    ...(link.kind === undefined ? {} : { linkinfo: { info_kind: link.kind } }),
  }
}

describe.skipIf(missing)(`links${missing === undefined ? '' : ` (${missing})`}`, () => {
  it('are listed as ip(8) lists them', async () => {
    using network = openTestNetwork()
    const host = network.namespace('host')
    const pod = network.namespace('pod')
    using netlink = openNetlink({ netns: host.path })
    const bridge = netlink.createBridge({ name: 'br0', mtu: 1450, up: true })
    const veth = netlink.createVeth({
      name: 'veth0',
      alias: 'shop/web',
      mtu: 1400,
      txQueueLength: 500,
      mac: '02:00:00:00:00:0a',
      up: true,
      peer: { name: 'eth0', netns: pod.path, mac: '02:00:00:00:00:0b', mtu: 1400 },
    })
    netlink.changeLink(veth.index, { masterIndex: bridge.index })
    for (const name of ['pod-nic', 'alternative-names-may-be-long']) {
      host.run('ip', 'link', 'property', 'add', 'dev', 'veth0', 'altname', name)
    }

    // The operational state of a link follows a little after it was set up, perhaps between the two lists.
    const ours = () => netlink.links().map(asIpPrints)
    await expect
      .poll(() => {
        const listed = host.ip('-details', 'link', 'show') as IpLink[]
        expect(listed).toMatchObject(ours())
        return listed.length
      })
      .toBe(3)
    expect(netlink.link('veth0')).toMatchObject({
      masterIndex: bridge.index,
      alias: 'shop/web',
      kind: 'veth',
    })
    expect(netlink.link('pod-nic')).toEqual(netlink.link(veth.index))
    expect(netlink.link('alternative-names-may-be-long')).toEqual(netlink.link(veth.index))
    expect(netlink.link('a-name-that-nothing-has')).toBeUndefined()
  })

  it('are made with the peer in the other namespace, never seen in this one', async () => {
    using network = openTestNetwork()
    const host = network.namespace('host')
    const pod = network.namespace('pod')
    using hostNetlink = openNetlink({ netns: host.path })
    using podNetlink = openNetlink({ netns: pod.path })
    const seen: string[] = []
    using _watch = hostNetlink.watch({ links: true }, (event) => {
      if (event.kind === 'link') seen.push(event.link.name)
    })
    const veth = hostNetlink.createVeth({
      name: 'veth0',
      peer: { name: 'eth0', netns: pod.path, mac: '02:00:00:00:00:0b', mtu: 1300, txQueueLength: 7 },
    })
    const peer = podNetlink.link('eth0')
    expect(peer).toMatchObject({
      mac: '02:00:00:00:00:0b',
      mtu: 1300,
      txQueueLength: 7,
      linkIndex: veth.index,
    })
    expect(veth.linkIndex).toBe(peer?.index)
    await expect.poll(() => seen).toContain('veth0')
    expect(seen).not.toContain('eth0')
  })

  it('change, move and vanish', () => {
    using network = openTestNetwork()
    const host = network.namespace('host')
    const pod = network.namespace('pod')
    using netlink = openNetlink({ netns: host.path })
    using podNetlink = openNetlink({ netns: pod.path })
    const { index } = netlink.createVeth({ name: 'a', alias: 'old', peer: { name: 'b' } })
    netlink.changeLink(index, {
      name: 'c',
      mtu: 1280,
      mac: '02:00:00:00:00:0c',
      alias: 'new',
      txQueueLength: 9,
      up: true,
    })
    expect(netlink.link(index)).toMatchObject({
      name: 'c',
      mtu: 1280,
      mac: '02:00:00:00:00:0c',
      alias: 'new',
      txQueueLength: 9,
      isUp: true,
    })
    netlink.changeLink(index, { arp: false })
    expect(host.ip('link', 'show', 'c')).toMatchObject([{ flags: expect.arrayContaining(['NOARP', 'UP']) }])
    netlink.changeLink(index, { arp: true })
    expect(host.ip('link', 'show', 'c')).not.toMatchObject([{ flags: expect.arrayContaining(['NOARP']) }])
    netlink.changeLink(index, { alias: '', up: false })
    expect(netlink.link(index)?.alias).toBeUndefined()

    netlink.changeLink(index, { netns: pod.path, name: 'eth0' })
    expect(netlink.link(index)).toBeUndefined()
    const moved = podNetlink.link('eth0')
    expect(moved?.mac).toBe('02:00:00:00:00:0c')

    podNetlink.removeLink(moved?.index ?? 0)
    expect(podNetlink.link('eth0')).toBeUndefined()
    expect(netlink.link('b')).toBeUndefined()
    podNetlink.removeLink(moved?.index ?? 0)
  })

  it('can be VLANs of others', ({ skip }) => {
    using network = openTestNetwork()
    const host = network.namespace('host')
    using netlink = openNetlink({ netns: host.path })
    const parent = netlink.createBridge({ name: 'br0', up: true })
    try {
      netlink.createVlan({ name: 'br0.7', parentIndex: parent.index, vlanId: 7, mtu: 1400 })
    } catch (error) {
      if (error instanceof NetlinkError && error.details.errno === 'ENOTSUP') skip('no 802.1Q in this kernel')
      throw error
    }
    expect(netlink.link('br0.7')).toMatchObject({
      ...{ kind: 'vlan', vlanId: 7, linkIndex: parent.index, mtu: 1400 },
    })
    expect(host.ip('-details', 'link', 'show', 'br0.7')).toMatchObject([
      { linkinfo: { info_data: { id: 7 } } },
    ])
  })

  it('are refused with the kernel’s words', () => {
    using network = openTestNetwork()
    using netlink = openNetlink({ netns: network.namespace('host').path })
    const { index } = netlink.createVeth({ name: 'a', peer: { name: 'b' } })
    expect(() => netlink.createVeth({ name: 'a', peer: { name: 'c' } })).toThrow(LinkExistsError)
    expect(netlink.link('c')).toBeUndefined()
    expect(() => netlink.changeLink(99, { up: true })).toThrow(LinkNotFoundError)
    expect(() => netlink.createVeth({ name: 'x', peer: { name: 'y', netns: '/run/netns/nowhere' } })).toThrow(
      NamespaceNotFoundError,
    )
    expect(refusal(() => netlink.changeLink(index, { mtu: 10 })).details).toEqual({
      operation: 'link set',
      subject: String(index),
      errno: 'EINVAL',
      kernelMessage: 'mtu less than device minimum',
    })
  })
})

describe.skipIf(missing)('transmit checksum offload', () => {
  it('is switched off as ethtool does it', () => {
    using network = openTestNetwork()
    const host = network.namespace('host')
    using netlink = openNetlink({ netns: host.path })
    netlink.createVeth({ name: 'ours', peer: { name: 'p1' } })
    netlink.createVeth({ name: 'theirs', peer: { name: 'p2' } })
    expect(netlink.offload('ours')).toMatchObject({ txChecksum: true, tcpSegmentation: true })

    expect(netlink.disableTxChecksumOffload('ours')).toBe(true)
    host.run('ethtool', '-K', 'theirs', 'tx', 'off')

    const features = host.run('ethtool', '-k', 'ours').replace('ours', 'theirs')
    expect(features).toBe(host.run('ethtool', '-k', 'theirs'))
    expect(features).toContain('tx-checksumming: off')
    expect(netlink.offload('ours')).toEqual(netlink.offload('theirs'))
    expect(netlink.disableTxChecksumOffload('ours')).toBe(false)
  })

  it('says when there is no such link', () => {
    using network = openTestNetwork()
    using netlink = openNetlink({ netns: network.namespace('host').path })
    expect(netlink.offload('nothing')).toBeUndefined()
    expect(netlink.offload('a-name-that-is-too-long')).toBeUndefined()
    expect(() => netlink.disableTxChecksumOffload('nothing')).toThrow(LinkNotFoundError)
  })
})

describe.skipIf(missing)('namespaces', () => {
  it('are left again, whatever happens inside', () => {
    using network = openTestNetwork()
    const { path } = network.namespace('one')
    const home = readlinkSync('/proc/thread-self/ns/net')
    expect(inNamespace(path, () => readlinkSync('/proc/thread-self/ns/net'))).not.toBe(home)
    expect(() =>
      inNamespace(path, () => {
        throw new RangeError('inside')
      }),
    ).toThrow(RangeError)
    expect(readlinkSync('/proc/thread-self/ns/net')).toBe(home)
  })

  it('that are none are refused', () => {
    expect(() => openNetlink({ netns: '/run/netns/nowhere' })).toThrow(NamespaceNotFoundError)
    expect(() => openNetlink({ netns: '/etc/hostname' })).toThrow(NamespaceNotFoundError)
  })

  it('have settings of their own', () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    const key = 'ipv6/conf/default/disable_ipv6'
    const ours = readSysctl(undefined, key)
    const wanted = ours === '1' ? '0' : '1'
    writeSysctl(space.path, key, wanted)
    expect(readSysctl(space.path, key)).toBe(wanted)
    expect(space.run('sysctl', '-n', 'net.ipv6.conf.default.disable_ipv6').trim()).toBe(wanted)
    expect(readSysctl(undefined, key)).toBe(ours)
  })

  it('name the setting that cannot be written', () => {
    using network = openTestNetwork()
    const { path } = network.namespace('one')
    const { details } = refusal(() => writeSysctl(path, 'ipv6/conf/nothing/disable_ipv6', 1))
    expect(details).toMatchObject({ subject: 'ipv6/conf/nothing/disable_ipv6', errno: 'ENOENT' })
    expect(() => writeSysctl(path, '../kernel/hostname', 'x')).toThrow(/expressed/)
  })
})

function refusal(action: () => void): NetlinkError {
  try {
    action()
  } catch (error) {
    if (error instanceof NetlinkError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

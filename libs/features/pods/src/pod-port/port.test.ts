import { parseIp, parseIpList } from '@kube-ovn/ip'
import type { SubnetSpec } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import { describe, expect, it } from 'vitest'
import { attached, lease } from '@kube-ovn/domains-control/testing/networks'
import { shownMembers, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { primaryNic } from '@kube-ovn/domains-control/pods'
import type { ChassisRequest } from './chassis.ts'
import { desiredPort } from './port.ts'
import type { PortOptions } from '@kube-ovn/domains-control/pods'

const blue = attached('blue', '10.1.0.0/16,fd00:1::/112')
const plain: PortOptions = {
  isSecured: false,
  forwardsUnknown: false,
  isActivatedByRarp: false,
  vips: [],
  sharesVip: false,
  securityGroups: [],
  dhcp: {},
  northGateway: undefined,
}
const mac = '00:00:5e:00:53:01'

function portWith(
  options: Partial<PortOptions>,
  addresses = '10.1.0.2,fd00:1::2',
  moving?: ChassisRequest,
  network = blue,
) {
  const nic = {
    nic: primaryNic({ namespace: 'shop', name: 'web' }),
    options: { ...plain, ...options },
    dhcp: {},
    security: { groups: [], builtIn: [], missing: [] },
    formerGroups: [],
    isAnnotated: false,
    hasNicType: false,
    placement: { network, lease: lease('blue', 'web.shop', addresses, mac) },
    problem: undefined,
    missed: undefined,
  }
  const desired = { ...nothing, ...desiredPort({ namespace: 'shop', name: 'web' }, 'n1', nic, moving) }
  return { rows: shownRows(desired), members: shownMembers(desired) }
}

describe('a port', () => {
  it.each<{
    name: string
    options: Partial<PortOptions>
    addresses: string
    want: Record<string, unknown>
  }>([
    {
      name: 'sends from its own addresses only when it asks for port security',
      options: { isSecured: true },
      addresses: '10.1.0.2,fd00:1::2',
      want: { port_security: [`${mac} 10.1.0.2 fd00:1::2`] },
    },
    {
      name: 'of one family likewise',
      options: { isSecured: true },
      addresses: 'fd00:1::2',
      want: { port_security: [`${mac} fd00:1::2`] },
    },
    {
      name: 'sends from its VIPs too',
      options: { isSecured: true, vips: [parseIp('10.1.0.200'), parseIp('fd00:1::c8')] },
      addresses: '10.1.0.2,fd00:1::2',
      want: {
        port_security: [`${mac} 10.1.0.2 fd00:1::2 10.1.0.200 fd00:1::c8`],
        external_ids: {
          vendor: 'kube-ovn',
          ls: 'blue',
          pod: 'shop/web',
          vips: '10.1.0.200,fd00:1::c8',
          'attach-vips': 'true',
        },
      },
    },
    {
      name: 'has no security groups on record once it shares a VIP',
      options: { vips: [parseIp('10.1.0.200')], sharesVip: true },
      addresses: '10.1.0.2',
      want: {
        port_security: [],
        external_ids: {
          vendor: 'kube-ovn',
          ls: 'blue',
          pod: 'shop/web',
          vips: '10.1.0.200',
          'attach-vips': 'true',
          security_groups: '',
        },
      },
    },
    {
      name: 'says of its security groups which it is in, of those that an object may be called',
      options: { securityGroups: ['tills', 'no/name', 'default-securitygroup'] },
      addresses: '10.1.0.2',
      want: {
        external_ids: {
          vendor: 'kube-ovn',
          ls: 'blue',
          pod: 'shop/web',
          security_groups: 'tills/default-securitygroup',
          associated_sg_tills: 'true',
          'associated_sg_default-securitygroup': 'true',
        },
      },
    },
    {
      name: 'has its VIPs on record without port security',
      options: { vips: [parseIp('10.1.0.200')] },
      addresses: '10.1.0.2',
      want: {
        port_security: [],
        external_ids: {
          vendor: 'kube-ovn',
          ls: 'blue',
          pod: 'shop/web',
          vips: '10.1.0.200',
          'attach-vips': 'true',
        },
      },
    },
    {
      name: 'gets what is for nobody when it asks for that',
      options: { forwardsUnknown: true },
      addresses: '10.1.0.2',
      want: { addresses: [`${mac} 10.1.0.2`, 'unknown'] },
    },
  ])('$name', ({ options, addresses, want }) => {
    expect(portWith(options, addresses).rows).toMatchObject([want])
  })

  it.each<{
    name: string
    options?: Partial<PortOptions>
    moving?: ChassisRequest
    want: Readonly<Record<string, string>>
  }>([
    { name: 'is where it is plugged in', want: {} },
    {
      name: 'is on both nodes while a machine moves',
      moving: { nodes: ['n1', 'n2'], isActivatedByRarp: true },
      want: { 'requested-chassis': 'n1,n2', 'activation-strategy': 'rarp' },
    },
    {
      name: 'is on one node once the machine has moved',
      moving: { nodes: ['n2'], isActivatedByRarp: false },
      want: { 'requested-chassis': 'n2' },
    },
    {
      name: 'is activated by RARP when it asks for that',
      options: { isActivatedByRarp: true },
      want: { 'requested-chassis': 'n1,n1', 'activation-strategy': 'rarp' },
    },
  ])('$name', ({ options = {}, moving, want }) => {
    expect(portWith(options, '10.1.0.2', moving).rows[0]?.['options']).toEqual(want)
  })

  it.each([
    {
      name: 'IPv4',
      addresses: '10.1.0.2',
      gateway: '100.64.0.99',
      want: ['ip4.src == 10.1.0.2 100.64.0.99'],
    },
    {
      name: 'IPv6',
      addresses: 'fd00:1::2',
      gateway: 'fd00:64::99',
      want: ['ip6.src == fd00:1::2 fd00:64::99'],
    },
    {
      name: 'dual-stack, by both',
      addresses: '10.1.0.2,fd00:1::2',
      gateway: '100.64.0.99,fd00:64::99',
      want: ['ip4.src == 10.1.0.2 100.64.0.99', 'ip6.src == fd00:1::2 fd00:64::99'],
    },
    {
      name: 'dual-stack, by one',
      addresses: '10.1.0.2,fd00:1::2',
      gateway: 'fd00:64::99',
      want: ['ip6.src == fd00:1::2 fd00:64::99'],
    },
    { name: 'IPv4, by one for IPv6', addresses: '10.1.0.2', gateway: 'fd00:64::99', want: [] },
  ])('$name, leaves the cluster by the gateway that it chose', ({ addresses, gateway, want }) => {
    const { rows, members } = portWith({ northGateway: parseIpList(gateway) }, addresses)
    const policies = rows.slice(1)
    expect(policies.map(({ match, nexthops }) => `${String(match)} ${String(nexthops)}`)).toEqual(want)
    for (const policy of policies)
      expect(policy).toMatchObject({
        priority: 29250,
        action: 'reroute',
        external_ids: { vendor: 'kube-ovn', subnet: 'blue' },
      })
    expect(members.filter((member) => member.startsWith('lr/'))).toHaveLength(want.length)
    expect(members.some((member) => member.startsWith('pg-subnet/'))).toBe(false)
    expect(members).toContain('pg-node/n1 ports: lsp/web.shop')
  })

  it.each<{ name: string; spec: SubnetSpec; isLetIn: boolean }>([
    { name: 'lets its node in by the router', spec: {}, isLetIn: true },
    {
      name: 'lets nobody in for the node on the overlay of another VPC',
      spec: { vpc: 'red' },
      isLetIn: false,
    },
    {
      name: 'lets its node in by the physical network, whatever its VPC',
      spec: { vpc: 'red', vlan: 'v10' },
      isLetIn: true,
    },
    {
      name: 'lets its node in by the physical network, beside the router of its VPC',
      spec: { vpc: 'red', vlan: 'v10', u2oInterconnection: true },
      isLetIn: true,
    },
  ])('$name', ({ spec, isLetIn }) => {
    const { members } = portWith({}, '10.1.0.2', undefined, attached('blue', '10.1.0.0/16', spec))
    expect(members.includes('pg-node/n1 ports: lsp/web.shop')).toBe(isLetIn)
  })
})

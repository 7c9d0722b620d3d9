import type { SubnetSpec } from '@kube-ovn/kube-api'
import { describe, expect, it } from 'vitest'
import { controlSettings } from '../testing/settings.ts'
import { SubnetInvalidError, SubnetUnsupportedError } from './errors.ts'
import { resolveSubnet, type NormalisedSpec } from './subnet-spec.ts'

const settings = controlSettings({ apiServerAddress: '10.96.0.1' })

const plain: NormalisedSpec = {
  cidrBlock: '10.1.0.0/16',
  protocol: 'IPv4',
  gateway: '10.1.0.1',
  excludeIps: ['10.1.0.1'],
  provider: 'ovn',
  vpc: 'ovn-cluster',
  default: false,
  gatewayType: 'distributed',
  enableLb: true,
  natOutgoing: false,
  private: false,
}

const { vpc: _vpc, gatewayType: _gatewayType, ...bare } = plain
const withoutSwitch: NormalisedSpec = { ...bare, provider: 'net1.default' }

const accepted: readonly {
  readonly name: string
  readonly given: SubnetSpec
  readonly want: NormalisedSpec
}[] = [
  { name: 'a prefix alone is completed', given: { cidrBlock: '10.1.0.0/16' }, want: plain },
  {
    name: 'a further network of pods has a switch, too',
    given: { cidrBlock: '10.1.0.0/16', provider: 'net1.default.ovn' },
    want: { ...plain, provider: 'net1.default.ovn' },
  },
  {
    name: "another CNI's network has neither a VPC nor a gateway type",
    given: { cidrBlock: '10.1.0.0/16', provider: 'net1.default' },
    want: withoutSwitch,
  },
  { name: 'host bits are masked off', given: { cidrBlock: '10.1.2.3/16' }, want: plain },
  {
    name: 'both families are completed',
    given: { cidrBlock: '10.1.0.0/16,fd00::/112' },
    want: {
      ...plain,
      cidrBlock: '10.1.0.0/16,fd00::/112',
      protocol: 'Dual',
      gateway: '10.1.0.1,fd00::1',
      excludeIps: ['10.1.0.1', 'fd00::1'],
    },
  },
  {
    name: 'the order of the families is kept, whatever that of the gateways is',
    given: { cidrBlock: 'fd00::/112,10.1.0.0/16', gateway: '10.1.0.9,fd00::9' },
    want: {
      ...plain,
      cidrBlock: 'fd00::/112,10.1.0.0/16',
      protocol: 'Dual',
      gateway: 'fd00::9,10.1.0.9',
      excludeIps: ['10.1.0.9', 'fd00::9'],
    },
  },
  {
    name: 'a gateway of one family is completed with that of the other',
    given: { cidrBlock: '10.1.0.0/16,fd00::/112', gateway: 'fd00::5' },
    want: {
      ...plain,
      cidrBlock: '10.1.0.0/16,fd00::/112',
      protocol: 'Dual',
      gateway: '10.1.0.1,fd00::5',
      excludeIps: ['10.1.0.1', 'fd00::5'],
    },
  },
  {
    name: 'IPv6 alone is in lower case and compressed',
    given: { cidrBlock: 'FD00:0::1/64', gateway: 'fd00:0:0::A' },
    want: { ...plain, cidrBlock: 'fd00::/64', protocol: 'IPv6', gateway: 'fd00::a', excludeIps: ['fd00::a'] },
  },
  {
    name: 'a prefix of two addresses has its first as gateway',
    given: { cidrBlock: '10.1.0.0/31' },
    want: { ...plain, cidrBlock: '10.1.0.0/31', gateway: '10.1.0.0', excludeIps: ['10.1.0.0'] },
  },
  {
    name: 'what the user chose stays',
    given: { cidrBlock: '10.1.0.0/16', natOutgoing: true, private: true, enableLb: false, default: true },
    want: { ...plain, natOutgoing: true, private: true, enableLb: false },
  },
]

describe('resolveSubnet', () => {
  it.each(accepted)('$name', ({ given, want }) => {
    const { normalised } = resolveSubnet('blue', given, settings)
    expect(normalised).toEqual(want)
    // Its normal form means the same.
    const again: SubnetSpec = { ...normalised, enableLb: normalised.enableLb ?? false }
    expect(resolveSubnet('blue', again, settings).normalised).toEqual(want)
  })

  it('gives the nodes own switch no gateway type and no load balancers', () => {
    const { normalised } = resolveSubnet('join', { cidrBlock: '100.64.0.0/16', enableLb: true }, settings)
    expect(normalised).toMatchObject({ enableLb: null, default: false })
    expect(normalised).not.toHaveProperty('gatewayType')
  })

  it('marks the default subnet and no other', () => {
    expect(resolveSubnet('ovn-default', { cidrBlock: '10.1.0.0/16' }, settings).normalised.default).toBe(true)
  })

  it.each<[SubnetSpec, string, string, string]>([
    [{}, 'spec.cidrBlock', '', 'give one value'],
    [{ cidrBlock: '10.1.0.0' }, 'spec.cidrBlock', '10.1.0.0', ''],
    [{ cidrBlock: '10.1.0.0/33' }, 'spec.cidrBlock', '10.1.0.0/33', ''],
    [{ cidrBlock: '10.1.0.0/16,10.2.0.0/16' }, 'spec.cidrBlock', '10.1.0.0/16,10.2.0.0/16', ''],
    [{ cidrBlock: '10.1.0.0/32' }, 'spec.cidrBlock', '10.1.0.0/32', '/31'],
    [{ cidrBlock: 'fd00::/128' }, 'spec.cidrBlock', 'fd00::/128', '/127'],
    [{ cidrBlock: '224.1.0.0/16' }, 'spec.cidrBlock', '224.1.0.0/16', '224.0.0.0/4'],
    [{ cidrBlock: '0.0.0.0/0' }, 'spec.cidrBlock', '0.0.0.0/0', 'reserved'],
    [{ cidrBlock: '10.1.0.0/16,fe80::/64' }, 'spec.cidrBlock', 'fe80::/64', 'fe80::/10'],
    [{ cidrBlock: '10.96.0.0/12' }, 'spec.cidrBlock', '10.96.0.0/12', '10.96.0.1'],
    [{ cidrBlock: '10.1.0.0/16', gateway: 'first' }, 'spec.gateway', 'first', ''],
    [{ cidrBlock: '10.1.0.0/16', gateway: '10.2.0.1' }, 'spec.gateway', '10.2.0.1', '10.1.0.0/16'],
    [{ cidrBlock: '10.1.0.0/16', gateway: '10.1.0.0' }, 'spec.gateway', '10.1.0.0', 'network address'],
    [{ cidrBlock: '10.1.0.0/16', gateway: '10.1.255.255' }, 'spec.gateway', '10.1.255.255', 'broadcast'],
    [{ cidrBlock: '10.1.0.0/16', gateway: 'fd00::1' }, 'spec.gateway', 'fd00::1', 'no prefix of this family'],
    [
      { cidrBlock: '10.1.0.0/16', excludeIps: ['10.1.0.0/24'] },
      'spec.excludeIps',
      '10.1.0.0/24',
      '10.16.0.5..',
    ],
    [
      { cidrBlock: '10.1.0.0/16', excludeIps: ['10.1.0.9..10.1.0.3'] },
      'spec.excludeIps',
      '10.1.0.9..10.1.0.3',
      '',
    ],
    [
      { cidrBlock: '10.1.0.0/16', vips: ['10.1.0.9', '10.2.0.9'] },
      'spec.vips',
      '10.2.0.9',
      'inside 10.1.0.0/16',
    ],
    [{ cidrBlock: '10.1.0.0/16', vips: ['fd00::9'] }, 'spec.vips', 'fd00::9', 'no prefix of this family'],
    [{ cidrBlock: '10.1.0.0/16', vips: ['10.1.0'] }, 'spec.vips', '10.1.0', ''],
    [{ cidrBlock: 'fd00::/64', mtu: 1200 }, 'spec.mtu', '1200', '1280'],
    [
      { cidrBlock: '10.1.0.0/16', natOutgoing: true, externalEgressGateway: '10.9.0.1' },
      'spec.externalEgressGateway',
      '10.9.0.1',
      'natOutgoing',
    ],
  ])('refuses %j', (given, field, value, cure) => {
    expect(refusalOf(() => resolveSubnet('blue', given, settings), SubnetInvalidError)).toEqual({
      subnet: 'blue',
      field,
      value,
      cure: expect.stringContaining(cure),
    })
  })

  it('refuses the name of its VPC', () => {
    const resolve = () => resolveSubnet('ovn-cluster', { cidrBlock: '10.1.0.0/16' }, settings)
    expect(refusalOf(resolve, SubnetInvalidError)).toMatchObject({
      field: 'metadata.name',
      value: 'ovn-cluster',
    })
  })

  it.each<[string, SubnetSpec, object]>([
    ['an overlay', {}, { vlan: '', isRouted: true }],
    ['a VLAN with a gateway of its own', { vlan: 'v10' }, { vlan: 'v10', isRouted: false }],
    ['a VLAN with one of OVN', { vlan: 'v10', logicalGateway: true }, { vlan: 'v10', isRouted: true }],
    ['an overlay, whatever gateway it wants', { logicalGateway: true }, { vlan: '', isRouted: true }],
    ['no switch', { vlan: 'v10', provider: 'camera.shop' }, { vlan: '', isRouted: false }],
    [
      'a VLAN, whose way out is no node',
      { vlan: 'v10', gatewayType: 'centralized' },
      { vlan: 'v10', isRouted: false },
    ],
  ])('finds %s', (_name, given, expected) => {
    const { network } = resolveSubnet('blue', { cidrBlock: '10.1.0.0/16', ...given }, settings)
    expect(network).toMatchObject(expected)
  })

  it('refuses two gateways of a VLAN', () => {
    const given = { vlan: 'v10', logicalGateway: true, u2oInterconnection: true }
    const resolve = () => resolveSubnet('blue', { cidrBlock: '10.1.0.0/16', ...given }, settings)
    expect(refusalOf(resolve, SubnetInvalidError)).toMatchObject({ field: 'spec.logicalGateway' })
  })

  it("keeps the nodes' switch off VLANs", () => {
    const resolve = () => resolveSubnet('join', { cidrBlock: '10.1.0.0/16', vlan: 'v10' }, settings)
    expect(refusalOf(resolve, SubnetInvalidError)).toMatchObject({ field: 'spec.vlan' })
  })

  it('says that a VLAN without a prefix is not served', () => {
    const resolve = () => resolveSubnet('blue', { cidrBlock: '', vlan: 'v10' }, settings)
    expect(refusalOf(resolve, SubnetUnsupportedError)).toMatchObject({ field: 'spec.cidrBlock', value: '' })
  })
})

function refusalOf(
  resolve: () => unknown,
  kind: typeof SubnetInvalidError | typeof SubnetUnsupportedError,
): unknown {
  try {
    resolve()
  } catch (error) {
    if (error instanceof kind) return error.details
    throw error
  }
  return undefined
}

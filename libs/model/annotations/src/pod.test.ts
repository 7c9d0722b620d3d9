import { parseCidrList, parseIpList, parseMac } from '@kube-ovn/ip'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AnnotationInvalidError } from './errors.ts'
import {
  interfaceAnnotations,
  networkOfNic,
  podAnnotations,
  readInterfaceRequest,
  readPodNetwork,
  readPodRequest,
  staleNicKeys,
} from './pod.ts'

const dual = {
  'ovn.kubernetes.io/allocated': 'true',
  'ovn.kubernetes.io/cidr': '10.16.0.0/16,fd00:10:16::/112',
  'ovn.kubernetes.io/gateway': '10.16.0.1,fd00:10:16::1',
  'ovn.kubernetes.io/ip_address': '10.16.0.2,fd00:10:16::2',
  'ovn.kubernetes.io/logical_router': 'ovn-cluster',
  'ovn.kubernetes.io/logical_switch': 'ovn-default',
  'ovn.kubernetes.io/mac_address': '2a:4c:69:8b:00:01',
  'ovn.kubernetes.io/pod_nic_type': 'veth-pair',
  'ovn.kubernetes.io/routed': 'true',
}

describe('readPodNetwork', () => {
  it('reads everything of an allocated Pod', () => {
    expect(readPodNetwork(dual)).toEqual({
      provider: 'ovn',
      addresses: parseIpList('10.16.0.2,fd00:10:16::2'),
      mac: '2a:4c:69:8b:00:01',
      cidrs: parseCidrList('10.16.0.0/16,fd00:10:16::/112'),
      gateways: parseIpList('10.16.0.1,fd00:10:16::1'),
      logicalSwitch: 'ovn-default',
      logicalRouter: 'ovn-cluster',
      nicType: 'veth-pair',
      isRouted: true,
    })
  })

  it('drops the gateway of the family that the Pod does not have', () => {
    const network = readPodNetwork({ ...dual, 'ovn.kubernetes.io/ip_address': 'fd00:10:16::2' })
    expect(network?.gateways).toEqual(parseIpList('fd00:10:16::1'))
  })

  it('is absent while the addresses are a request only', () => {
    expect(
      readPodNetwork({
        'ovn.kubernetes.io/ip_address': '10.16.0.2',
        'ovn.kubernetes.io/mac_address': '2a:4c:69:8b:00:01',
      }),
    ).toBeUndefined()
    expect(readPodNetwork(undefined)).toBeUndefined()
  })

  it('knows a NIC without addresses', () => {
    const network = readPodNetwork({
      'ovn.kubernetes.io/allocated': 'true',
      'ovn.kubernetes.io/ip_address': '',
      'ovn.kubernetes.io/cidr': '',
      'ovn.kubernetes.io/mac_address': '2a:4c:69:8b:00:01',
    })
    expect(network).toMatchObject({
      addresses: {},
      cidrs: {},
      gateways: {},
      nicType: 'veth-pair',
      isRouted: false,
    })
  })

  it('reads the NIC of another provider under its own keys', () => {
    const provider = 'attachnet.default.ovn'
    const annotations = Object.fromEntries(
      Object.entries(dual).map(([key, value]) => [key.replace('ovn.', `${provider}.`), value]),
    )
    expect(annotations).toHaveProperty(['attachnet.default.ovn.kubernetes.io/ip_address'])
    expect(readPodNetwork(annotations, provider)).toMatchObject({ provider, mac: '2a:4c:69:8b:00:01' })
    expect(readPodNetwork(annotations)).toBeUndefined()
  })
})

describe('readPodRequest', () => {
  it('asks for nothing when there are no annotations, or empty ones', () => {
    const nothing = { addresses: undefined, mac: undefined, logicalSwitch: undefined, family: undefined }
    expect(readPodRequest(undefined)).toEqual(nothing)
    expect(
      readPodRequest({ 'ovn.kubernetes.io/ip_address': '', 'ovn.kubernetes.io/mac_address': '' }),
    ).toEqual(nothing)
  })

  it('reads addresses, MAC address, subnet and family', () => {
    expect(
      readPodRequest({
        'ovn.kubernetes.io/ip_address': '10.16.0.15',
        'ovn.kubernetes.io/mac_address': '00:00:00:53:6B:B1',
        'ovn.kubernetes.io/logical_switch': 'blue',
        'ovn.kubernetes.io/ip_family': 'ipv4',
      }),
    ).toEqual({
      addresses: parseIpList('10.16.0.15'),
      mac: parseMac('00:00:00:53:6b:b1'),
      logicalSwitch: 'blue',
      family: 4,
    })
  })

  const refused = [
    { key: 'ip_address', value: '10.16.0.300', cure: 'write an IPv4 address' },
    { key: 'ip_address', value: '10.16.0.5/16', cure: 'write an IPv4 address' },
    { key: 'ip_address', value: '10.16.0.5,10.16.0.6', cure: 'at most one value per family' },
    { key: 'mac_address', value: '00:00:00:53:6b', cure: 'write six bytes' },
    { key: 'ip_family', value: 'IPv4', cure: 'write ipv4 or ipv6 in lower case' },
  ]
  it.each(refused)('refuses $key $value, naming annotation, value and cure', ({ key, value, cure }) => {
    const field = `ovn.kubernetes.io/${key}`
    expect(() => readPodRequest({ [field]: value })).toThrow(
      expect.objectContaining({
        code: 'annotation-invalid',
        retry: 'on-change',
        details: { field, value, cure: expect.stringContaining(cure) },
      }),
    )
  })

  it('refuses an address of the other family than the one asked for', () => {
    expect(() =>
      readPodRequest({ 'ovn.kubernetes.io/ip_family': 'ipv6', 'ovn.kubernetes.io/ip_address': '10.16.0.5' }),
    ).toThrow(AnnotationInvalidError)
  })
})

it('reads back the addresses that it prints', () => {
  const { ipAddress } = podAnnotations()
  fc.assert(
    fc.property(fc.option(fc.ipV4()), fc.option(fc.ipV6()), (v4, v6) => {
      const addresses = ipAddress.parse([v4, v6].filter((address) => address !== null).join(','))
      expect(ipAddress.parse(ipAddress.format(addresses))).toEqual(addresses)
    }),
  )
})

it('an empty annotation for one NIC of several asks for nothing', () => {
  const keys = interfaceAnnotations({ namespace: 'shop', name: 'net1' }, 'eth9')
  const annotations = { [keys.ipAddress.key]: '', [keys.macAddress.key]: '' }
  expect(readInterfaceRequest(annotations, keys)).toEqual({ addresses: undefined, mac: undefined })
})

describe('staleNicKeys', () => {
  const given = (provider: string) => ({
    [podAnnotations(provider).allocated.key]: 'true',
    [podAnnotations(provider).cidr.key]: '10.17.0.0/16',
  })

  it('finds all that is said about NICs which the pod does not have any more', () => {
    const annotations = { ...given('ovn'), ...given('net1.shop.ovn'), ...given('mv.shop') }
    expect(staleNicKeys(annotations, new Set(['ovn', 'net1.shop.ovn']))).toEqual(
      Object.keys(given('mv.shop')),
    )
  })

  it.each(['example', 'app.example'])('leaves alone what others say under %s.kubernetes.io', (name) => {
    const annotations = { [`${name}.kubernetes.io/allocated`]: 'true', [`${name}.kubernetes.io/other`]: 'x' }
    expect(staleNicKeys(annotations, new Set(['ovn']))).toEqual([])
  })
})

it.each([
  ['ovn', 'ovn'],
  ['net1.shop.ovn', 'net1.shop.ovn'],
  ['net1.shop.ovn.eth1', 'net1.shop.ovn'],
  ['net1.shop.ovn.eth1.100', 'net1.shop.ovn'],
  ['mv.shop', 'mv.shop'],
  ['a.b.shop.ovn', 'a.b.shop.ovn'],
])('knows the network of a NIC: %s is in %s', (provider, network) =>
  expect(networkOfNic(provider)).toBe(network),
)

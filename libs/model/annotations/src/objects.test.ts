import { parseIp, parseIpList } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { AnnotationInvalidError } from './errors.ts'
import { ipLabels } from './marks.ts'
import { namespaceAnnotations } from './namespace.ts'
import { nodeAnnotations, readNodeNetwork } from './node.ts'

describe('readNodeNetwork', () => {
  const allocated = {
    'ovn.kubernetes.io/allocated': 'true',
    'ovn.kubernetes.io/cidr': '100.64.0.0/16,fd00:100:64::/112',
    'ovn.kubernetes.io/gateway': '100.64.0.1,fd00:100:64::1',
    'ovn.kubernetes.io/ip_address': '100.64.0.2',
    'ovn.kubernetes.io/mac_address': '2a:4c:69:8b:00:01',
    'ovn.kubernetes.io/port_name': 'node-n1',
  }

  it('reads the join address with the gateway of its family', () => {
    expect(readNodeNetwork(allocated)).toMatchObject({
      addresses: parseIpList('100.64.0.2'),
      gateways: parseIpList('100.64.0.1'),
      mac: '2a:4c:69:8b:00:01',
      portName: 'node-n1',
    })
  })

  it.each(['allocated', 'ip_address', 'mac_address'])('is absent without %s', (name) => {
    const { [`ovn.kubernetes.io/${name}`]: _gone, ...rest } = allocated as Record<string, string>
    expect(readNodeNetwork(rest)).toBeUndefined()
  })
})

describe('node_networks', () => {
  it('maps names of networks to addresses, both ways', () => {
    const text = '{"storage":"192.168.100.10","backup":"fd00::10"}'
    const networks = nodeAnnotations.nodeNetworks.parse(text)
    expect(networks.get('storage')).toBe(parseIp('192.168.100.10'))
    expect(nodeAnnotations.nodeNetworks.format(networks)).toBe(text)
  })

  it.each(['storage', '["a"]', '{"storage":1}', '{"storage":"here"}'])('refuses %s', (text) => {
    expect(() => nodeAnnotations.nodeNetworks.parse(text)).toThrow(AnnotationInvalidError)
  })
})

describe('namespace annotations', () => {
  it('hold one group per subnet', () => {
    const groups = [['10.1.0.1', '10.1.0.5..10.1.0.9'], ['fd00::1']]
    const text = '10.1.0.1,10.1.0.5..10.1.0.9;fd00::1'
    expect(namespaceAnnotations.excludeIps.format(groups)).toBe(text)
    expect(namespaceAnnotations.excludeIps.parse(text)).toEqual(groups)
    expect(namespaceAnnotations.cidr.parse('10.1.0.0/16,fd00::/64;10.2.0.0/16')).toEqual([
      '10.1.0.0/16,fd00::/64',
      '10.2.0.0/16',
    ])
  })

  it('list subnets by name, in order, whatever the blanks', () => {
    expect(namespaceAnnotations.logicalSwitch.parse('blue, red,')).toEqual(['blue', 'red'])
  })
})

describe('ipLabels', () => {
  it('select by subnet, in two ways, by node and by reservation', () => {
    expect(ipLabels({ subnet: 'blue', nodeName: 'n1', isReserved: false })).toEqual({
      'ovn.kubernetes.io/subnet': 'blue',
      'ovn.kubernetes.io/node-name': 'n1',
      'ovn.kubernetes.io/ip_reserved': 'false',
      blue: '',
    })
  })

  it('leave out names that are too long for a label', () => {
    expect(ipLabels({ subnet: 's'.repeat(64), nodeName: 'n'.repeat(64), isReserved: true })).toEqual({
      'ovn.kubernetes.io/ip_reserved': 'true',
    })
  })
})

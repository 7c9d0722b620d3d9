import { parseIp } from '@kube-ovn/ip'
import type { Node } from '@kube-ovn/kube'
import type { Subnet } from '@kube-ovn/kube-api'
import { expect, it } from 'vitest'
import { wayOutOf, wayOutText } from './way-out.ts'

const node: Node = {
  metadata: {
    name: 'n1',
    annotations: {
      'ovn.kubernetes.io/allocated': 'true',
      'ovn.kubernetes.io/ip_address': '100.64.0.2,fd00:100:64::2',
      'ovn.kubernetes.io/mac_address': '0a:58:64:40:00:02',
      'ovn.kubernetes.io/cidr': '100.64.0.0/16,fd00:100:64::/112',
      'ovn.kubernetes.io/gateway': '100.64.0.1,fd00:100:64::1',
    },
  },
  status: { addresses: [{ type: 'InternalIP', address: '172.18.0.2' }] },
}

function textTo(
  target: string,
  spec: NonNullable<Subnet['spec']>,
  status: NonNullable<Subnet['status']> = {},
): string | undefined {
  const subnet: Subnet = { metadata: { name: 'shop' }, spec, status }
  const found = wayOutOf({ target: parseIp(target), node, subnet })
  return found && wayOutText(found)
}

it.each(['172.18.0.2', '100.64.0.2', 'fd00:100:64::2'])(
  'tells nothing of what is for the node: %s',
  (target) => {
    expect(textTo(target, {})).toBeUndefined()
  },
)

it('tells the node, and the address behind it, of what goes on', () => {
  expect(textTo('198.51.100.1', {})).toBe('leaves by n1 with its own address')
  expect(textTo('198.51.100.1', { natOutgoing: true })).toBe("leaves by n1 with the node's address")
})

it('leaves it to the rules of the subnet where there are some', () => {
  const rules = [{ match: { dstIPs: '198.51.100.0/24' }, action: 'forward' as const }]
  expect(textTo('198.51.100.1', { natOutgoing: true, natOutgoingPolicyRules: rules })).toContain(
    'as natOutgoingPolicyRules say',
  )
  expect(textTo('198.51.100.1', { natOutgoingPolicyRules: rules })).toBe('leaves by n1 with its own address')
})

it('tells the address that a gateway node has for a subnet, of the family', () => {
  const gateways = [
    { node: 'n2', addresses: ['172.18.0.80'] },
    { node: 'n1', addresses: ['fd00::81', '172.18.0.81'] },
  ]
  const spec = { gatewayType: 'centralized' as const, natOutgoing: true }
  expect(textTo('198.51.100.1', spec, { egress: { gateways } })).toBe(
    'leaves by n1 with the address 172.18.0.81',
  )
})

it('tells the gateway outside that nodes send it to', () => {
  const egress = { nextHop: '172.18.0.1,fd00::1' }
  expect(textTo('2001:db8::1', {}, { egress })).toBe(
    'leaves by n1 with its own address, to the gateway fd00::1',
  )
})

it('tells no more than the node of what a node sends', () => {
  const found = wayOutOf({ target: parseIp('198.51.100.1'), node, subnet: undefined })
  expect(found).toEqual({ node: 'n1' })
})

it('tells the wire of the node that hosts the router of a VPC', () => {
  const wire = { node: 'n1', wire: 'localnet.sea', source: 'own' }
  expect(wayOutText(wire)).toBe('leaves for the physical network by localnet.sea of n1 with its own address')
  expect(wayOutText({ ...wire, source: '172.20.0.201', nextHop: '172.20.0.11' })).toBe(
    'leaves for the physical network by localnet.sea of n1 with the address 172.20.0.201, to the gateway 172.20.0.11',
  )
})

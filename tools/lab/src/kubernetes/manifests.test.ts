import { expect, it } from 'vitest'
import { withinStack } from './manifests.ts'

const object = {
  cidrBlock: '10.1.0.0/16,fd00:1::/112',
  ip_pool: '10.1.0.5,fd00:1::5;10.1.0.6,fd00:1::6',
  ips: ['10.1.0.10..10.1.0.19', 'fd00:1::80/121', '10.1.0.9'],
  v6ip: 'fd00:1::9',
  text: 'one,two',
  nested: { replicas: 2, addresses: '10.1.0.7' },
  routes: [
    { cidr: '10.9.0.0/16', nextHopIP: '10.1.0.9' },
    { cidr: 'fd00:9::/64', nextHopIP: 'fd00:1::9' },
    {},
  ],
}

it.each([
  { stack: 'dual', want: object },
  {
    stack: 'ipv4',
    want: {
      cidrBlock: '10.1.0.0/16',
      ip_pool: '10.1.0.5;10.1.0.6',
      ips: ['10.1.0.10..10.1.0.19', '10.1.0.9'],
      text: 'one,two',
      nested: { replicas: 2, addresses: '10.1.0.7' },
      routes: [{ cidr: '10.9.0.0/16', nextHopIP: '10.1.0.9' }, {}],
    },
  },
  {
    stack: 'ipv6',
    want: {
      cidrBlock: 'fd00:1::/112',
      ip_pool: 'fd00:1::5;fd00:1::6',
      ips: ['fd00:1::80/121'],
      v6ip: 'fd00:1::9',
      text: 'one,two',
      nested: { replicas: 2 },
      routes: [{ cidr: 'fd00:9::/64', nextHopIP: 'fd00:1::9' }, {}],
    },
  },
] as const)('has the addresses of the stack $stack only', ({ stack, want }) => {
  expect(withinStack(object, stack)).toEqual(want)
})

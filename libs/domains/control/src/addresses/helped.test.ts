import { parseCidrList, parseIp, parseIpList } from '@kube-ovn/ip'
import { Ipam, type Owner } from '@kube-ovn/ipam'
import { expect, it } from 'vitest'
import { helpedIn } from './helped.ts'
import type { Helped } from './waiters.ts'

const mac = '00:00:5e:00:53:09'
const gateway = '00:00:5e:00:53:01'

it.each<[name: string, holders: readonly Owner[], helped: Helped]>([
  ['what nobody has: anybody', [], 'anybody'],
  ['what a pod has: its other NICs', ['pod/shop/web'], 'pod/shop/web'],
  ['what two have: nobody', ['pod/shop/web', 'pod/shop/db'], 'nobody'],
  ['what two of a name have in other ways: nobody', ['pod/shop/web', 'vip/shop/web'], 'nobody'],
  ['what one has twice: its other NICs', ['pod/shop/web', 'reservation/shop/web'], 'pod/shop/web'],
  ['what a pod has by another kind: the pod', ['statefulset-pod/shop/web-0'], 'pod/shop/web-0'],
  ['what a pod has for a Service: the pod', ['service-pod/shop/lb'], 'pod/shop/lb'],
  ['what a machine has: who waits for it', ['vm/shop/box'], 'pod/shop/box'],
  ['what a port of its name has: the pod', ['port/shop/web'], 'pod/shop/web'],
  ['what a Vip has: the Vip', ['vip/v1'], 'vip/v1'],
])('tells whom it helps, of %s', (_, holders, helped) => {
  const ipam = new Ipam((count) => new Uint8Array(count))
  const [cidrs, gateways] = [parseCidrList('10.1.0.0/24'), parseIpList('10.1.0.1')]
  ipam.setSubnet({ name: 's', cidrs, gateways, excludeIps: [] })
  ipam.setGatewayMac('s', gateway)
  for (const [index, owner] of holders.entries()) {
    const request = { subnet: 's', nic: `nic${index}`, owner, mac, static: parseIpList('10.1.0.9') }
    ipam.allocate({ ...request, shareOnConflict: true })
  }
  const tell = helpedIn(ipam)
  expect([tell('s', mac), tell('s', parseIp('10.1.0.9'))]).toEqual([helped, helped])
  expect([tell('s', gateway), tell('gone', mac), tell('gone', parseIp('10.1.0.9'))]).toEqual([
    ...['nobody', 'nobody', 'nobody'],
  ])
})

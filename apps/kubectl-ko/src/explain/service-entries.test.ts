import type { Service } from '@kube-ovn/kube'
import { expect, it } from 'vitest'
import type { Row } from '../rows.ts'
import { entriesIn, isAbout } from './service-entries.ts'

const service: Service = {
  metadata: { namespace: 'shop', name: 'web', annotations: { 'ovn.kubernetes.io/vpc': 'red' } },
  spec: {
    clusterIPs: ['10.96.0.9', 'fd00:96::9'],
    ports: [{ port: 80 }, { port: 53, protocol: 'UDP' }],
  },
}

function balancer(vips: Readonly<Record<string, string>>, more: Row = {}): Row {
  return {
    ...{ _uuid: 'a1', name: 'vpc-red-tcp-load', protocol: 'tcp', vips: Object.entries(vips) },
    external_ids: [['owner', 'load-balancer/red']],
    ...more,
  }
}

function idsIn(row: Row, of = service): readonly string[] {
  return entriesIn(row, of).map(({ id }) => id)
}

const all = {
  '10.96.0.9:80': '10.16.0.5:8080',
  '[fd00:96::9]:80': '[fd00:16::5]:8080',
  '^lb.shop.web.fd00_96__9.80.tcp.vip:80': '^lb.shop.web.fd00_96__9.80.tcp',
  // Of others: another port, address, and a port of UDP.
  '10.96.0.9:81': '10.16.0.5:8080',
  '10.96.0.8:80': '10.16.0.5:8080',
  '10.96.0.9:53': '10.16.0.5:53',
}

it('finds the entries of a Service among those of all, by address or variable', () => {
  expect(idsIn(balancer(all))).toEqual([
    ...['vips 10.96.0.9:80', 'vips [fd00:96::9]:80', 'vips ^lb.shop.web.fd00_96__9.80.tcp.vip:80'],
  ])
  expect(entriesIn(balancer(all), service)[0]).toMatchObject({
    ...{ table: 'Load_Balancer', row: 'a1', owner: 'service/shop/web' },
    content: '10.96.0.9:80 to 10.16.0.5:8080',
  })
})

it('tells protocols apart, and knows what none is', () => {
  expect(idsIn(balancer(all, { protocol: 'udp' }))).toEqual(['vips 10.96.0.9:53'])
  expect(idsIn(balancer(all, { protocol: [] }))).toHaveLength(3)
})

it('looks into those of its VPC alone', () => {
  expect(idsIn(balancer(all, { external_ids: [['owner', 'load-balancer/blue']] }))).toEqual([])
  expect(idsIn(balancer(all), { ...service, metadata: { namespace: 'shop', name: 'web' } })).toEqual([])
})

it('takes the addresses that its user chose, and those from outside', () => {
  const annotations = { ...service.metadata.annotations, 'ovn.kubernetes.io/switch_lb_vip': '10.96.0.8' }
  expect(idsIn(balancer(all), { ...service, metadata: { ...service.metadata, annotations } })).toEqual([
    'vips 10.96.0.8:80',
  ])
  const spec = { ...service.spec, type: 'LoadBalancer' as const }
  const status = { loadBalancer: { ingress: [{ ip: '10.96.0.8' }] } }
  expect(idsIn(balancer(all), { ...service, spec, status })).toContain('vips 10.96.0.8:80')
})

it.each([
  [
    'ct.new && ip4.dst == 10.96.0.9 && tcp.dst == 80 reg4 = 10.96.0.9; reg2[0..15] = 80; ct_lb_mark(…);',
    true,
  ],
  ['ip && ip4.dst == 10.96.0.9 ct_dnat;', true],
  ['ct.new && ip4.dst == 10.96.0.9 && tcp.dst == 8080 reg4 = 10.96.0.9; reg2[0..15] = 8080;', false],
  ['ct.new && ip4.dst == 10.96.0.90 && tcp.dst == 80 reg4 = 10.96.0.90; reg2[0..15] = 80;', false],
  ['reg9[6] == 0 && reg4 == 10.96.0.9 && reg2[0..15] == 80 commit_lb_aff(vip = "10.96.0.9:80", …);', true],
])('knows which flows are about an entry: %s', (flow, is) => {
  expect(isAbout(flow, '10.96.0.9:80')).toBe(is)
})

it('knows it of entries of IPv6 as well', () => {
  const flow = 'ct.new && ip6.dst == fd00:96::9 && tcp.dst == 80 xxreg1 = fd00:96::9; reg2[0..15] = 80;'
  expect(isAbout(flow, '[fd00:96::9]:80')).toBe(true)
  expect(isAbout(flow, '[fd00:96::]:80')).toBe(false)
})

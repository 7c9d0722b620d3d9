import { balancerNames, scopedFrontends, type HealthCheck } from '@kube-ovn/domains-control/services'
import { controlSettings } from '@kube-ovn/domains-control/testing/settings'
import { shownMembers, shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { parseIpList } from '@kube-ovn/ip'
import type { EndpointSlice, Service } from '@kube-ovn/kube-api/core'
import { endpointSlice, service } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { desiredService } from './desired.ts'

/** What a Service of the VPC `blue` writes: backends are Pods of its Subnet `blue-a`, asked from the address of the Vip of that name. */
function written(of: Service, slice: EndpointSlice, backends: HealthCheck['backends']) {
  const slices = [slice]
  const sources = { 'blue-a': parseIpList('10.30.0.2') }
  const desired = desiredService({
    ...{ service: of, slices, vpc: 'blue', taken: [], problem: undefined },
    frontends: scopedFrontends(of, slices, { enableOvnLbPreferLocal: false }, []),
    ...{ places: [], announcers: new Set<string>(), nodePortFamilies: [] },
    ...{ layout: 'shared', isMoving: false },
    names: balancerNames('blue', { settings: controlSettings() }),
    check: { subnet: 'blue-a', backends, sources },
  })
  return { rows: shownRows(desired), members: shownMembers(desired), patches: shownPatches(desired) }
}

const vendor = { vendor: 'kube-ovn' }
const options = { interval: '5', timeout: '20', success_count: '3', failure_count: '3' }
const check = (balancer: string, vip: string) => ({
  ...{ row: `lb-check/${balancer}/${vip}`, vip, options },
  external_ids: { ...vendor, switch_lb_subnet: 'blue-a' },
})

it('a RouterLBRule leads from its OvnEip to Pods of the VPC, on its switches and by a load balancer of its own at the router', () => {
  const of = service({
    ...{ name: 'rlr-web', clusterIP: 'None', ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
    annotations: {
      'ovn.kubernetes.io/router_lb_vip': '172.19.0.50',
      'ovn.kubernetes.io/logical_router': 'blue',
    },
  })
  const slice = endpointSlice({
    ...{ service: 'rlr-web', endpoints: ['10.30.0.5'] },
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  })
  const backends = [{ address: '10.30.0.5', port: 'web-0.default', subnet: 'blue-a' }]
  const [shared, own, vip] = ['vpc-blue-tcp-load', 'default/rlr-web/tcp', '172.19.0.50:80']
  expect(written(of, slice, backends)).toEqual({
    rows: [
      {
        ...{ row: `lb-of/${own}`, name: own, protocol: 'tcp' },
        ...{ selection_fields: [], options: {}, external_ids: vendor },
      },
      check(shared, vip),
      check(own, vip),
    ],
    members: [
      `lb/${shared} vips: ${vip}=10.30.0.5:8080`,
      `lb-of/${own} vips: ${vip}=10.30.0.5:8080`,
      `lr/blue load_balancer: lb-of/${own}`,
      `lb/${shared} health_check: lb-check/${shared}/${vip}`,
      `lb-of/${own} health_check: lb-check/${own}/${vip}`,
      `lb/${shared} ip_port_mappings: 10.30.0.5=web-0.default:10.30.0.2`,
      `lb-of/${own} ip_port_mappings: 10.30.0.5=web-0.default:10.30.0.2`,
    ],
    patches: [
      {
        object: 'services/default/rlr-web',
        metadata: { annotations: { 'ovn.kubernetes.io/vpc': 'blue' } },
      },
    ],
  })
})

it('a VpcDns leads from its address to its name servers, by each protocol', () => {
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' as const },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' as const },
    { name: 'metrics', port: 9153, protocol: 'TCP' as const },
  ]
  const of = service({
    ...{ namespace: 'kube-system', name: 'slr-vpc-dns-d1', clusterIP: 'None', ports },
    annotations: {
      'ovn.kubernetes.io/switch_lb_vip': '10.96.0.3',
      'ovn.kubernetes.io/logical_router': 'blue',
      'ovn.kubernetes.io/logical_switch': 'blue-a',
    },
  })
  const slice = endpointSlice({
    ...{ namespace: 'kube-system', service: 'slr-vpc-dns-d1', endpoints: ['10.30.0.9', '10.30.0.8'] },
    ports,
  })
  const backends = ['10.30.0.8', '10.30.0.9'].map((address, at) => ({
    ...{ address, port: `vpc-dns-d1-${at}.kube-system`, subnet: 'blue-a' },
  }))
  const [udp, tcp] = ['vpc-blue-udp-load', 'vpc-blue-tcp-load']
  const mappings = (balancer: string) => [
    `lb/${balancer} ip_port_mappings: 10.30.0.8=vpc-dns-d1-0.kube-system:10.30.0.2`,
    `lb/${balancer} ip_port_mappings: 10.30.0.9=vpc-dns-d1-1.kube-system:10.30.0.2`,
  ]
  expect(written(of, slice, backends)).toEqual({
    rows: [check(udp, '10.96.0.3:53'), check(tcp, '10.96.0.3:53'), check(tcp, '10.96.0.3:9153')],
    members: [
      `lb/${udp} vips: 10.96.0.3:53=10.30.0.8:53,10.30.0.9:53`,
      `lb/${tcp} vips: 10.96.0.3:53=10.30.0.8:53,10.30.0.9:53`,
      `lb/${tcp} vips: 10.96.0.3:9153=10.30.0.8:9153,10.30.0.9:9153`,
      `lb/${udp} health_check: lb-check/${udp}/10.96.0.3:53`,
      `lb/${tcp} health_check: lb-check/${tcp}/10.96.0.3:53`,
      `lb/${tcp} health_check: lb-check/${tcp}/10.96.0.3:9153`,
      ...mappings(udp),
      ...mappings(tcp),
    ],
    patches: [
      {
        object: 'services/kube-system/slr-vpc-dns-d1',
        metadata: { annotations: { 'ovn.kubernetes.io/vpc': 'blue' } },
      },
    ],
  })
})

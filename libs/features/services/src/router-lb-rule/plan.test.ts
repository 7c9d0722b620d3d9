import { lbRuleKinds } from '@kube-ovn/domains-control/services'
import { madeOfRule } from '@kube-ovn/domains-control/testing/made-of-rule'
import { parseIpv4, parseIpv6 } from '@kube-ovn/ip'
import { routerLbRule } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { routerPlan } from './plan.ts'

const ports = [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }]

it('is a Service under the address of the OvnEip, which says its VPC', () => {
  const rule = routerLbRule({ name: 'web', ovnEip: 'eip1', vpc: 'blue', selector: ['app:web'], ports })
  const { patches } = madeOfRule(lbRuleKinds.router, rule, routerPlan(rule, [parseIpv4('172.19.0.50')]))
  expect(patches).toMatchObject([
    {
      ...{ name: 'web', subresource: 'status' },
      merge: { status: { service: 'default/rlr-web', ports: '80/TCP' } },
    },
    {
      create: {
        kind: 'Service',
        metadata: {
          ...{ namespace: 'default', name: 'rlr-web' },
          annotations: {
            'ovn.kubernetes.io/router_lb_vip': '172.19.0.50',
            'ovn.kubernetes.io/logical_router': 'blue',
          },
        },
        spec: { clusterIP: 'None', ipFamilies: ['IPv4'], selector: { app: 'web' }, ports },
      },
    },
  ])
})

it('has both addresses of an OvnEip, and no word about health checks unless the rule has one', () => {
  const annotations = { 'ovn.kubernetes.io/service_health_check': 'false' }
  const both = [parseIpv4('172.19.0.50'), parseIpv6('fd00:172:19::50')]
  expect(routerPlan(routerLbRule({ vpc: 'blue', annotations }), both).annotations).toEqual({
    'ovn.kubernetes.io/router_lb_vip': '172.19.0.50,fd00:172:19::50',
    'ovn.kubernetes.io/logical_router': 'blue',
    'ovn.kubernetes.io/logical_switch': undefined,
    'ovn.kubernetes.io/service_health_check': 'false',
  })
  expect(routerPlan(routerLbRule(), both).annotations).toMatchObject({
    'ovn.kubernetes.io/service_health_check': undefined,
  })
})

import { problemText, KubeOvnError } from '@kube-ovn/errors'
import { formatIp } from '@kube-ovn/ip'
import { lbRuleKinds } from '@kube-ovn/domains-control/services'
import { madeOfRule } from '@kube-ovn/domains-control/testing/made-of-rule'
import { switchLbRule, type SwitchLbRuleFields } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { planOf } from './plan.ts'

/** What is told about a rule that can not be used, without the words that are always the same. */
function refusal(fields: SwitchLbRuleFields): string {
  try {
    planOf(switchLbRule(fields))
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return problemText(error).replace('the rule can not be used ', '')
  }
  throw new Error('it can be used')
}

const http = { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }

describe('a SwitchLBRule', () => {
  it('asks for a Service in its namespace', () => {
    const annotations = {
      'ovn.kubernetes.io/logical_router': 'red',
      'ovn.kubernetes.io/logical_switch': '',
      'ovn.kubernetes.io/service_health_check': 'false',
    }
    expect(planOf(switchLbRule({ name: 'web', annotations, selector: ['app: web', 'tier:'] }))).toEqual({
      namespace: 'default',
      name: 'slr-web',
      vips: [0x01_01_01_01],
      selector: { app: 'web', tier: '' },
      endpoints: [],
      sessionAffinity: 'None',
      ports: [http],
      annotations: {
        'ovn.kubernetes.io/switch_lb_vip': '1.1.1.1',
        'ovn.kubernetes.io/logical_router': 'red',
        'ovn.kubernetes.io/logical_switch': undefined,
        'ovn.kubernetes.io/service_health_check': 'false',
      },
      ineffective: undefined,
    })
  })

  it('of a VpcDns is a Service for its name servers, by each protocol', () => {
    const annotations = {
      'ovn.kubernetes.io/logical_router': 'blue',
      'ovn.kubernetes.io/logical_switch': 'blue-a',
    }
    const ports = [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      { name: 'metrics', port: 9153, protocol: 'TCP' },
    ]
    const rule = switchLbRule({
      ...{ name: 'vpc-dns-d1', vip: '10.96.0.3', namespace: 'kube-system', annotations, ports },
      selector: ['k8s-app:vpc-dns-d1'],
    })
    expect(madeOfRule(lbRuleKinds.switch, rule, planOf(rule)).patches).toMatchObject([
      { merge: { status: { service: 'kube-system/slr-vpc-dns-d1', ports: '53/UDP,53/TCP,9153/TCP' } } },
      {
        create: {
          metadata: {
            ...{ namespace: 'kube-system', name: 'slr-vpc-dns-d1' },
            annotations: { 'ovn.kubernetes.io/switch_lb_vip': '10.96.0.3', ...annotations },
          },
          spec: {
            ...{ clusterIP: 'None', selector: { 'k8s-app': 'vpc-dns-d1' } },
            ports: ports.map((port) => ({ ...port, targetPort: port.port })),
          },
        },
      },
    ])
  })

  it.each([
    ['fd00::1', 'fd00::1'],
    ['FD00:0::1, 1.1.1.1', '1.1.1.1,fd00::1'],
  ])('has the addresses %j', (vip, want) => {
    const { vips, annotations } = planOf(switchLbRule({ vip }))
    expect(vips.map((ip) => formatIp(ip)).join(',')).toBe(want)
    expect(annotations['ovn.kubernetes.io/switch_lb_vip']).toBe(want)
  })

  it('has what is usual where nothing is written', () => {
    const { namespace, ports } = planOf(switchLbRule({ namespace: '', ports: [{ port: 53 }] }))
    expect([namespace, ports]).toEqual(['default', [{ port: 53, targetPort: 53, protocol: 'TCP' }]])
  })

  it('has as many endpoints as Kubernetes makes slices of, and no more', () => {
    const endpoints = Array.from({ length: 1000 }, (_, n) => `10.16.${n >> 8}.${n & 255}`)
    expect(planOf(switchLbRule({ endpoints })).endpoints).toHaveLength(1000)
    expect(refusal({ endpoints: [...endpoints, '10.16.9.9'] })).toContain(
      '(field=spec.endpoints value=1001 entries); write at most 1000',
    )
  })

  it('goes by endpoints, each once, where there is a selector as well', () => {
    const both = { endpoints: ['10.16.0.9', ' 10.16.0.9 ', 'fd00:10:16:0::9'], selector: ['app:web'] }
    const plan = planOf(switchLbRule(both))
    expect([plan.selector, plan.endpoints]).toEqual([undefined, ['10.16.0.9', 'fd00:10:16::9']])
    expect(plan.ineffective && problemText(plan.ineffective)).toBe(
      'a part of the rule has no effect (field=spec.selector value=app:web); remove it, or spec.endpoints: as long as both are there, endpoints count',
    )
  })

  it.each<[SwitchLbRuleFields, string]>([
    [{ vip: '' }, '(field=spec.vip); give one value, or one per family: v4,v6'],
    [{ vip: '1.1.1.1,2.2.2.2' }, 'value=1.1.1.1,2.2.2.2); give at most one value per family: v4,v6'],
    [{ vip: 'nonsense' }, '(field=spec.vip value=nonsense)'],
    [
      { vip: '127.0.0.1' },
      '(field=spec.vip value=127.0.0.1); write an address that hosts elsewhere may have',
    ],
    [{ vip: 'fe80::1' }, '(field=spec.vip value=fe80::1)'],
    [{ selector: [] }, '(field=spec.selector); write the labels of the backends'],
    [{ selector: ['app=web'] }, '(field=spec.selector value=app=web); write a label and its value'],
    [{ endpoints: ['10.16.0.9', 'web'] }, '(field=spec.endpoints[1] value=web)'],
    [{ endpoints: ['169.254.1.1'] }, '(field=spec.endpoints[0] value=169.254.1.1)'],
    [{ sessionAffinity: 'Sticky' }, '(field=spec.sessionAffinity value=Sticky); write ClientIP or None'],
    [{ ports: [] }, '(field=spec.ports); write at least one port'],
    [{ ports: [{ ...http, port: 0 }] }, '(field=spec.ports[0].port value=0); write a number from 1 to 65535'],
    [{ ports: [{ ...http, port: 65_536 }] }, '(field=spec.ports[0].port value=65536)'],
    [{ ports: [{ ...http, targetPort: -1 }] }, '(field=spec.ports[0].targetPort value=-1)'],
    [
      { ports: [{ ...http, protocol: 'tcp' }] },
      '(field=spec.ports[0].protocol value=tcp); write TCP, UDP, SCTP',
    ],
    [{ ports: [{ ...http, name: 'HTTP' }] }, '(field=spec.ports[0].name value=HTTP)'],
    [{ ports: [http, { port: 81 }] }, '(field=spec.ports[1].name); write a name'],
    [{ ports: [http, { ...http, port: 81 }] }, '(field=spec.ports[1].name value=http); write another one'],
    [{ ports: [http, { ...http, name: 'b' }] }, '(field=spec.ports[1].port value=80/TCP); write another one'],
    [{ name: 'a.b' }, '(field=metadata.name value=a.b); create it anew under a name of at most 59'],
    [{ name: 'x'.repeat(60) }, `(field=metadata.name value=${'x'.repeat(60)})`],
  ])('can not be used with %j', (fields, told) => {
    expect(refusal(fields)).toContain(told)
  })
})

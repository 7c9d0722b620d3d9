import { forwarderAnnotations, serviceAnnotations } from '@kube-ovn/annotations'
import { KubeOvnError, problemText } from '@kube-ovn/errors'
import { parseCidrList, parseIpList } from '@kube-ovn/ip'
import { service, type ServiceFields } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { chooseSubnet, forwardsOf, nodeSelectorOf, suits, wishOf, type ServingSubnet } from './plan.ts'
import { deploymentOf } from './workload.ts'

const attached = { [serviceAnnotations.attachmentProvider.key]: 'street.default' }
const street: ServingSubnet = {
  name: 'street',
  cidrs: parseCidrList('172.18.0.0/16,fd00:18::/64'),
  gateways: parseIpList('172.18.0.1,fd00:18::1'),
}
const lane: ServingSubnet = { name: 'lane', cidrs: parseCidrList('172.19.0.0/16'), gateways: {} }

function asking({ annotations, ...fields }: ServiceFields = {}) {
  return service({
    type: 'LoadBalancer',
    clusterIP: '10.96.7.7',
    ...fields,
    annotations: { ...attached, ...annotations },
  })
}

function problemOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof KubeOvnError) return problemText(error)
    throw error
  }
  return ''
}

describe('wishOf', () => {
  it('reads what a Service asks for', () => {
    const annotations = {
      'street.default.kubernetes.io/logical_switch': 'street',
      'ovn.kubernetes.io/logical_switch': 'inside',
      'ovn.kubernetes.io/vip': 'door',
    }
    expect(wishOf(asking({ annotations, loadBalancerIP: '172.18.0.18' }))).toEqual({
      network: { namespace: 'default', name: 'street' },
      ...{ subnet: 'street', podSubnet: 'inside', vip: 'door' },
      addresses: parseIpList('172.18.0.18'),
    })
    expect(wishOf(asking())).toMatchObject({
      subnet: undefined,
      podSubnet: undefined,
      vip: undefined,
      addresses: {},
    })
  })

  it.each(['', 'street', '.default', 'street.', 'a.b.c', 'Street.default', 'street.default.ovn.x'])(
    'refuses the network "%s"',
    (value) => {
      const annotations = { [serviceAnnotations.attachmentProvider.key]: value }
      expect(problemOf(() => wishOf(asking({ annotations })))).toContain(
        'write the name of a NetworkAttachmentDefinition',
      )
    },
  )

  it('takes the provider of a network of OVN for its network', () => {
    const annotations = { [serviceAnnotations.attachmentProvider.key]: 'street.default.ovn' }
    expect(wishOf(asking({ annotations })).network).toEqual({ namespace: 'default', name: 'street' })
  })
})

describe('chooseSubnet', () => {
  const choose = (fields: ServiceFields, subnets: readonly ServingSubnet[] = [street, lane]) =>
    chooseSubnet(wishOf(asking(fields)), 'street.default', subnets)
  const named = (subnet: string): ServiceFields => ({
    annotations: { 'street.default.kubernetes.io/logical_switch': subnet },
  })

  it('takes the one that is named, or else one that the network has', () => {
    expect(choose(named('lane')).name).toBe('lane')
    expect(choose({}).name).toBe('street')
    expect(choose({ loadBalancerIP: '172.18.0.18,fd00:18::18' }).name).toBe('street')
    expect(choose({ loadBalancerIP: '172.19.0.18' }).name).toBe('lane')
  })

  it('stays in the one in which the Service has its address, as long as that will do', () => {
    const stay = (fields: ServiceFields) =>
      chooseSubnet(wishOf(asking(fields)), 'street.default', [street, lane], 'lane').name
    const asked: readonly ServiceFields[] = [{}, { loadBalancerIP: '172.18.0.18' }, named('street')]
    expect(asked.map((fields) => stay(fields))).toEqual(['lane', 'street', 'street'])
  })

  it.each<readonly [string, ServiceFields, readonly ServingSubnet[], string]>([
    ['another network has', named('inside'), [street], 'write a Subnet with the provider street.default'],
    ['nobody has', {}, [], 'give a Subnet spec.provider street.default'],
    ['has not the address', { loadBalancerIP: '172.19.0.1' }, [street], 'write an address of Subnet street'],
    ['has not the family', { loadBalancerIP: 'fd00:18::18' }, [lane], 'write an address of Subnet lane'],
  ])('refuses one that %s', (_name, fields, subnets, told) => {
    expect(problemOf(() => choose(fields, subnets))).toContain(told)
  })
})

describe('forwardsOf', () => {
  const textOf = (fields: ServiceFields, addresses = '172.18.0.18,fd00:18::18', subnet = street): unknown =>
    JSON.parse(
      forwarderAnnotations.forwards.format(forwardsOf(asking(fields), parseIpList(addresses), subnet)),
    )

  it('leads to the port of the Service, whatever the target port is, in the families that both have', () => {
    const ports = [
      { port: 80, targetPort: 8080, protocol: 'TCP' },
      { port: 53, targetPort: 'dns', protocol: 'UDP' },
      { port: 9 },
    ] as const
    expect(textOf({ ports })).toEqual({
      families: [{ address: '172.18.0.18', gateway: '172.18.0.1', to: '10.96.7.7' }],
      ports: ['80/TCP', '53/UDP', '9/TCP'],
    })
    expect(textOf({ clusterIPs: ['fd00:96::7', '10.96.7.7'] })).toMatchObject({
      families: [{ to: '10.96.7.7' }, { address: 'fd00:18::18', gateway: 'fd00:18::1', to: 'fd00:96::7' }],
    })
    expect(textOf({}, '172.19.0.5', lane)).toMatchObject({
      families: [{ address: '172.19.0.5', to: '10.96.7.7' }],
    })
  })

  it('has from where clients may come', () => {
    expect(textOf({ loadBalancerSourceRanges: ['192.0.2.0/24', ' fd00::/8'] })).toMatchObject({
      sources: ['192.0.2.0/24', 'fd00::/8'],
    })
  })

  it.each<readonly [string, ServiceFields, string]>([
    [
      'families that do not meet',
      { clusterIP: 'fd00:96::7' },
      'give it a cluster address of a family of Subnet lane',
    ],
    ['no cluster address', { clusterIP: 'None' }, 'give it a cluster address'],
    ['a source that is none', { loadBalancerSourceRanges: ['here'] }, 'value=here); write prefixes'],
  ])('refuses %s', (_name, fields, told) => {
    expect(problemOf(() => textOf(fields, '172.19.0.5', lane))).toContain(told)
  })
})

it('finds out whether addresses will do', () => {
  const had = parseIpList('172.18.0.18,fd00:18::18')
  expect(
    ['', '172.18.0.18', 'fd00:18::18', '172.18.0.19', '172.18.0.18,fd00:18::19'].map((text) =>
      suits(text === '' ? {} : parseIpList(text), had),
    ),
  ).toEqual([true, true, true, false, false])
})

it('reads labels of nodes, line by line', () => {
  expect(nodeSelectorOf('kubernetes.io/os: linux\n rack:  "r1"\nnonsense\n\nempty:\n')).toEqual({
    'kubernetes.io/os': 'linux',
    rack: 'r1',
    empty: '',
  })
})

it('makes a Pod that may do nothing but change its own network', () => {
  const owner = { apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'u1' }
  const addresses = parseIpList('172.18.0.18')
  const made = deploymentOf(
    'default',
    'web',
    {
      network: { namespace: 'default', name: 'street', provider: 'street.default' },
      ...{ subnet: 'street', podSubnet: 'inside', vip: 'lb-svc-web.default', addresses },
      forwards: forwardsOf(asking(), addresses, street),
      ...{ image: 'kube-ovn/cni:1', nodeSelector: { rack: 'r1' }, device: 'example.com/nic' },
    },
    owner,
  )
  expect(made.metadata).toMatchObject({ name: 'lb-svc-web', ownerReferences: [owner] })
  expect(made).toMatchObject({
    spec: {
      template: {
        metadata: {
          annotations: {
            'k8s.v1.cni.cncf.io/networks': 'default/street',
            'street.default.kubernetes.io/logical_switch': 'street',
            'street.default.kubernetes.io/ip_address': '172.18.0.18',
            'street.default.kubernetes.io/vip': 'lb-svc-web.default',
            'ovn.kubernetes.io/logical_switch': 'inside',
            'ovn.kubernetes.io/forwarding': 'true',
          },
        },
        spec: {
          automountServiceAccountToken: false,
          nodeSelector: { rack: 'r1' },
          securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              ...{ name: 'lb-svc', image: 'kube-ovn/cni:1' },
              resources: { requests: { 'example.com/nic': '1' }, limits: { 'example.com/nic': '1' } },
              securityContext: {
                ...{ privileged: false, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
                capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
              },
            },
          ],
        },
      },
    },
  })
})

import { KubeOvnError, problemText } from '@kube-ovn/errors'
import { parseIpList } from '@kube-ovn/ip'
import { vpcDns, type VpcDnsFields } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { readConfig, type ConfigData, type DnsDefaults } from './config.ts'
import { VpcDnsOffError } from './errors.ts'
import { planOf, type DnsSurroundings } from './plan.ts'
import { corefileOf, deploymentOf, ruleOf } from './workload.ts'

const place = 'kube-system/vpc-dns-config'
const defaults: DnsDefaults = { place, image: 'coredns:1.12', apiServer: '10.96.0.1' }
const data: ConfigData = { 'coredns-vip': '10.96.0.3', 'nad-name': 'ovn-nad' }
const around: DnsSurroundings = {
  namespace: 'kube-system',
  provider: 'ovn-nad.default.ovn',
  defaultSubnet: { name: 'ovn-default', gateways: parseIpList('10.16.0.1,fd00:10:16::1') },
  corefile: { name: 'vpc-dns-corefile', makes: false },
}
const owner = { apiVersion: 'kubeovn.io/v1', kind: 'VpcDns', name: 'd1', uid: 'u1' }

interface Case {
  readonly dns?: VpcDnsFields
  readonly data?: ConfigData
  readonly defaults?: Partial<DnsDefaults>
  readonly around?: Partial<DnsSurroundings>
}

function plan(given: Case = {}) {
  const config = readConfig({ ...data, ...given.data }, { ...defaults, ...given.defaults })
  return planOf(vpcDns({ name: 'd1', ...given.dns }), config, { ...around, ...given.around })
}

function problemOf(given: Case): string {
  try {
    plan(given)
  } catch (error) {
    if (error instanceof KubeOvnError) return problemText(error)
    throw error
  }
  return ''
}

describe('a VpcDns', () => {
  it('asks for name servers in the Vpc with a second NIC to the API server, and for a rule that leads to them', () => {
    const { spec, metadata } = deploymentOf(plan(), owner)
    expect(metadata).toEqual({
      ...{ namespace: 'kube-system', name: 'vpc-dns-d1' },
      labels: { 'ovn.kubernetes.io/vpc-dns': 'true' },
      ownerReferences: [owner],
    })
    const container = {
      ...{ name: 'coredns', image: 'coredns:1.12', imagePullPolicy: 'IfNotPresent' },
      args: ['-conf', '/etc/coredns/Corefile'],
      ports: [
        { name: 'dns', containerPort: 53, protocol: 'UDP' },
        { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
        { name: 'metrics', containerPort: 9153, protocol: 'TCP' },
      ],
      resources: { limits: { memory: '170Mi' }, requests: { cpu: '100m', memory: '70Mi' } },
      securityContext: {
        allowPrivilegeEscalation: false,
        capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] },
        readOnlyRootFilesystem: true,
      },
      volumeMounts: [{ name: 'config-volume', mountPath: '/etc/coredns', readOnly: true }],
    }
    expect(spec).toMatchObject({
      replicas: 2,
      selector: { matchLabels: { 'k8s-app': 'vpc-dns-d1' } },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      template: {
        metadata: {
          labels: { 'k8s-app': 'vpc-dns-d1' },
          annotations: {
            'ovn.kubernetes.io/logical_switch': 'blue-a',
            'k8s.v1.cni.cncf.io/networks': 'default/ovn-nad',
            'ovn-nad.default.ovn.kubernetes.io/logical_switch': 'ovn-default',
            'ovn-nad.default.ovn.kubernetes.io/routes': '[{"dst":"10.96.0.1/32","gw":"10.16.0.1"}]',
          },
        },
        spec: { serviceAccountName: 'kube-ovn-vpc-dns', dnsPolicy: 'Default', containers: [container] },
      },
    })
    expect(ruleOf(plan(), owner)).toEqual({
      metadata: {
        ...{ name: 'vpc-dns-d1', labels: { 'ovn.kubernetes.io/vpc-dns': 'true' }, ownerReferences: [owner] },
        annotations: {
          'ovn.kubernetes.io/logical_router': 'blue',
          'ovn.kubernetes.io/logical_switch': 'blue-a',
        },
      },
      spec: {
        ...{ vip: '10.96.0.3', namespace: 'kube-system', selector: ['k8s-app:vpc-dns-d1'] },
        ports: [
          { name: 'dns', port: 53, protocol: 'UDP' },
          { name: 'dns-tcp', port: 53, protocol: 'TCP' },
          { name: 'metrics', port: 9153, protocol: 'TCP' },
        ],
      },
    })
  })

  it('has the number of name servers, and the Corefile, that it says', () => {
    const spec = { replicas: 3, template: { spec: { volumes: [{ configMap: { name: 'mine' } }] } } }
    const made = plan({ dns: { replicas: 3 }, around: { corefile: { name: 'mine', makes: false } } })
    expect(deploymentOf(made, owner).spec).toMatchObject(spec)
    expect(corefileOf(made, owner).data?.['Corefile']).toContain('prometheus :9153')
  })

  it.each<[string, Case, object]>([
    ['the image that is written', { data: { 'coredns-image': 'mine:2' } }, { image: 'mine:2' }],
    [
      'an address for each family',
      { data: { 'coredns-vip': 'fd00:10:96::3, 10.96.0.3' } },
      { vip: '10.96.0.3,fd00:10:96::3' },
    ],
    [
      'the API server that is written',
      { data: { 'k8s-service-host': 'fd00:10:96::1', 'k8s-service-port': '6443' } },
      {
        ...{ host: 'fd00:10:96::1', port: '6443' },
        network: expect.objectContaining({
          destination: 'fd00:10:96::1/128',
          gateway: 'fd00:10:16::1',
        }) as object,
      },
    ],
    [
      'the provider that is written',
      { data: { 'nad-provider': 'ovn-nad.default.ovn' } },
      { namespace: 'kube-system' },
    ],
    ['a switch that is on', { data: { 'enable-vpc-dns': 'True' } }, { vpc: 'blue' }],
  ])('goes by %s', (_what, given, wanted) => {
    expect(plan(given)).toMatchObject(wanted)
  })

  it('tells the name servers where the API server is if somebody wrote it, else Kubernetes does', () => {
    const written = { 'k8s-service-host': '172.18.0.2', 'k8s-service-port': '6443' }
    const env = [
      { name: 'KUBERNETES_SERVICE_HOST', value: '172.18.0.2' },
      { name: 'KUBERNETES_SERVICE_PORT', value: '6443' },
    ]
    const told = deploymentOf(plan({ data: written }), owner).spec
    expect(told).toMatchObject({ template: { spec: { containers: [{ env }] } } })
    expect(JSON.stringify(deploymentOf(plan(), owner))).not.toContain('KUBERNETES')
  })
})

describe('what can not be', () => {
  it.each<[string, Case, string]>([
    [
      'a name with dots',
      { dns: { name: 'a.b' } },
      'field=metadata.name value=a.b); create it anew under a name of at most 51',
    ],
    [
      'the name of the Corefile for all',
      { dns: { name: 'corefile' } },
      'value=corefile); create it anew under another name: vpc-dns-corefile is a ConfigMap that users write',
    ],
    [
      'that of what goes for all',
      { dns: { name: 'config' } },
      'vpc-dns-config is a ConfigMap that users write',
    ],
    ['a long name', { dns: { name: 'a'.repeat(52) } }, 'create it anew under a name of at most 51'],
    [
      'fewer than none',
      { dns: { replicas: -1 } },
      'field=spec.replicas value=-1); write a number from 1 to 1000',
    ],
    ['very many', { dns: { replicas: 1001 } }, 'field=spec.replicas value=1001)'],
    [
      'no address',
      { data: { 'coredns-vip': '' } },
      'field=data.coredns-vip); write the address of the name servers',
    ],
    ['a bad address', { data: { 'coredns-vip': 'dns' } }, `into coredns-vip of the ConfigMap ${place}`],
    ['no image', { defaults: { image: undefined } }, 'field=data.coredns-image); write the image of CoreDNS'],
    ['an image with a blank', { data: { 'coredns-image': 'a b' } }, 'field=data.coredns-image value=a b)'],
    [
      'no network',
      { data: { 'nad-name': ' ' } },
      'field=data.nad-name); write the name of a NetworkAttachment',
    ],
    [
      'an unknown network',
      { around: { provider: undefined } },
      'field=data.nad-name value=ovn-nad); create the Network',
    ],
    [
      'another provider',
      { data: { 'nad-provider': 'ovn-nad.other.ovn' } },
      'field=data.nad-provider value=ovn-nad.other.ovn); write ovn-nad.default.ovn into nad-provider',
    ],
    [
      'a bad host',
      { data: { 'k8s-service-host': 'api' } },
      'field=data.k8s-service-host value=api); write the address',
    ],
    ['no host', { defaults: { apiServer: undefined } }, 'field=data.k8s-service-host); write the address'],
    [
      'a bad port',
      { data: { 'k8s-service-port': '0' } },
      'field=data.k8s-service-port value=0); write the port',
    ],
    [
      'a host of a family that the default Subnet has not',
      { around: { defaultSubnet: { name: 'ovn-default', gateways: parseIpList('fd00:10:16::1') } } },
      'field=data.k8s-service-host value=10.96.0.1); write an address of the API server that is of a family',
    ],
    ['no default Subnet', { around: { defaultSubnet: undefined } }, 'of a family of the default Subnet'],
    [
      'a bad switch',
      { data: { 'enable-vpc-dns': 'maybe' } },
      'field=data.enable-vpc-dns value=maybe); write true or false',
    ],
  ])('%s is refused with the field, its value and a cure', (_what, given, told) => {
    expect(problemOf(given)).toContain(told)
  })

  it('is off when somebody says so, whatever else is written', () => {
    expect(() => plan({ data: { 'enable-vpc-dns': 'false', 'coredns-vip': '' } })).toThrow(VpcDnsOffError)
  })
})

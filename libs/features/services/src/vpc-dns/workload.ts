import {
  networkAnnotations,
  nodeLabel,
  podAnnotations,
  serviceAnnotations,
  vpcDnsLabel,
} from '@kube-ovn/annotations'
import type { OwnerReference } from '@kube-ovn/kube-api/core'
import type { Configuration } from '@kube-ovn/reconcile'
import type { DnsPlan } from './plan.ts'

/** Label of the Pods, and what the rule selects them by. */
const podLabel = 'k8s-app'

/** Of the account that the chart makes: it may look at Services and Pods. */
const account = 'kube-ovn-vpc-dns'

const dnsPort = 53
const metricsPort = 9153

/** The ports on which name servers answer, and tell their metrics. */
const ports = [
  { name: 'dns', port: dnsPort, protocol: 'UDP' },
  { name: 'dns-tcp', port: dnsPort, protocol: 'TCP' },
  { name: 'metrics', port: metricsPort, protocol: 'TCP' },
] as const

/** What is said of everything that is made. */
function metadataOf(plan: DnsPlan, owner: OwnerReference): Configuration['metadata'] {
  const { namespace, name } = plan
  return { namespace, name, labels: { [vpcDnsLabel]: 'true' }, ownerReferences: [owner] }
}

/** The name servers. */
export function deploymentOf(plan: DnsPlan, owner: OwnerReference): Configuration {
  const labels = { [podLabel]: plan.name }
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } }
  return {
    metadata: metadataOf(plan, owner),
    spec: {
      ...{ replicas: plan.replicas, selector: { matchLabels: labels }, strategy },
      template: {
        metadata: { labels, annotations: networkOf(plan) },
        spec: {
          serviceAccountName: account,
          priorityClassName: 'system-cluster-critical',
          dnsPolicy: 'Default',
          affinity: { podAntiAffinity: apartOnNodes(labels) },
          containers: [containerOf(plan)],
          volumes: [
            {
              name: 'config-volume',
              configMap: { name: plan.corefile, items: [{ key: 'Corefile', path: 'Corefile' }] },
            },
          ],
        },
      },
    },
  }
}

/** The first NIC is in the Vpc, the further one leads to the API server and nowhere else. */
function networkOf({ subnet, network }: DnsPlan): Readonly<Record<string, string>> {
  const further = podAnnotations(network.provider)
  const { destination, gateway } = network
  const family = destination.includes(':') ? 6 : 4
  return {
    [podAnnotations().logicalSwitch.key]: subnet,
    [networkAnnotations.further.key]: `default/${network.name}`,
    [further.logicalSwitch.key]: network.subnet,
    [further.routes.key]: further.routes.format([{ destination, gateway, family }]),
  }
}

function apartOnNodes(labels: Readonly<Record<string, string>>): object {
  const expressions = Object.entries(labels).map(([key, value]) => ({ key, operator: 'In', values: [value] }))
  return {
    preferredDuringSchedulingIgnoredDuringExecution: [
      {
        weight: 100,
        podAffinityTerm: {
          labelSelector: { matchExpressions: expressions },
          topologyKey: nodeLabel.hostname,
        },
      },
    ],
  }
}

function containerOf({ image, host, port }: DnsPlan): object {
  const env = [
    ...(host === undefined ? [] : [{ name: 'KUBERNETES_SERVICE_HOST', value: host }]),
    ...(port === undefined ? [] : [{ name: 'KUBERNETES_SERVICE_PORT', value: port }]),
  ]
  return {
    ...{ name: 'coredns', image, imagePullPolicy: 'IfNotPresent', args: ['-conf', '/etc/coredns/Corefile'] },
    ...(env.length === 0 ? {} : { env }),
    ports: ports.map(({ name, port: containerPort, protocol }) => ({ name, containerPort, protocol })),
    resources: { limits: { memory: '170Mi' }, requests: { cpu: '100m', memory: '70Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
    volumeMounts: [{ name: 'config-volume', mountPath: '/etc/coredns', readOnly: true }],
  }
}

/** The address that leads to them, in their Vpc whether or not there are Pods already. */
export function ruleOf(plan: DnsPlan, owner: OwnerReference): Configuration {
  const { namespace: _, ...metadata } = metadataOf(plan, owner)
  const { logicalRouter, logicalSwitch } = serviceAnnotations
  return {
    metadata: {
      ...metadata,
      annotations: { [logicalRouter.key]: plan.vpc, [logicalSwitch.key]: plan.subnet },
    },
    spec: {
      vip: plan.vip,
      namespace: plan.namespace,
      selector: [`${podLabel}:${plan.name}`],
      ports: ports.map((port) => ({ ...port })),
    },
  }
}

/** Names of the cluster are answered from what the API server has, others by whom the node asks. */
const plainCorefile = `.:${dnsPort} {
    errors
    health {
        lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
    }
    prometheus :${metricsPort}
    forward . /etc/resolv.conf
    cache 30
    reload
    loadbalance
}
`

export function corefileOf(plan: DnsPlan, owner: OwnerReference): Configuration {
  return { metadata: metadataOf(plan, owner), data: { Corefile: plainCorefile } }
}

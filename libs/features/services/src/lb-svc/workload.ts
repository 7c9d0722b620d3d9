import { forwarderAnnotations, networkAnnotations, podAnnotations } from '@kube-ovn/annotations'
import { formatIpList } from '@kube-ovn/ip'
import type { OwnerReference } from '@kube-ovn/kube-api/core'
import type { Configuration } from '@kube-ovn/reconcile'
import { forwarderLabels, forwarderName } from '@kube-ovn/domains-control/services'
import type { WorkloadPlan } from './snapshot.ts'

const volumes = { forwards: '/etc/kube-ovn/forwards', run: '/run/kube-ovn' } as const

/** What makes the Pod that forwards. Names, labels and annotations are those of the original. */
export function deploymentOf(
  namespace: string,
  service: string,
  plan: WorkloadPlan,
  owner: OwnerReference,
): Configuration {
  const labels = forwarderLabels(namespace, service)
  const { nodeSelector } = plan
  return {
    metadata: { namespace, name: forwarderName(service), ownerReferences: [owner] },
    spec: {
      replicas: 1,
      // Two would have one address.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: annotationsOf(plan) },
        spec: {
          terminationGracePeriodSeconds: 0,
          // It asks the API server for nothing.
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
          securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
          containers: [containerOf(plan)],
          volumes: [
            {
              name: 'forwards',
              downwardAPI: { items: [{ path: 'forwards', fieldRef: { fieldPath: forwardsField } }] },
            },
            { name: 'run', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
          ],
        },
      },
    },
  }
}

const forwardsField = `metadata.annotations['${forwarderAnnotations.forwards.key}']`

function annotationsOf(plan: WorkloadPlan): Readonly<Record<string, string>> {
  const { network, subnet, podSubnet, vip, addresses } = plan
  const nic = podAnnotations(network.provider)
  return {
    [networkAnnotations.further.key]: `${network.namespace}/${network.name}`,
    [nic.logicalSwitch.key]: subnet,
    [nic.ipAddress.key]: formatIpList(addresses),
    [podAnnotations(network.provider).borrowedVip.key]: vip,
    [forwarderAnnotations.forwarding.key]: 'true',
    ...(podSubnet === undefined ? {} : { [podAnnotations().logicalSwitch.key]: podSubnet }),
  }
}

function containerOf({ image, device }: WorkloadPlan): object {
  const devices = device === '' ? {} : { [device]: '1' }
  return {
    ...{ name: 'lb-svc', image, imagePullPolicy: 'IfNotPresent' },
    command: ['node', '--max-semi-space-size=1', '/kube-ovn/cni-forwarder.mjs'],
    resources: {
      requests: { cpu: '10m', memory: '64Mi', ...devices },
      limits: { memory: '256Mi', ...devices },
    },
    securityContext: {
      // That of the original is.
      privileged: false,
      allowPrivilegeEscalation: false,
      capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
    // It is there once the forwards that the Pod was told are in effect.
    readinessProbe: { exec: { command: ['test', '-e', `${volumes.run}/ready`] }, periodSeconds: 3 },
    volumeMounts: [
      { name: 'forwards', mountPath: volumes.forwards, readOnly: true },
      { name: 'run', mountPath: volumes.run },
    ],
  }
}

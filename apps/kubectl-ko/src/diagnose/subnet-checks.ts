import { podAnnotations } from '@kube-ovn/annotations'
import { subnetResource } from '@kube-ovn/kube-api'
import { daemonSets, pods, type KubeObject, type Pod, type Resource } from '@kube-ovn/kube'
import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from '../cluster.ts'
import { NotReadyError, ObjectMissingError } from '../errors.ts'
import type { Workload } from '../facts.ts'
import { leavingNothing } from '../leaving-nothing.ts'
import { isReady } from '../view/status-view.ts'
import type { Finding } from './finding.ts'
import { askPingers, runningPingers } from './pinger.ts'

const tcpPort = 8100
const udpPort = 8101
const patienceMs = 120_000

/** Starts a pod of the subnet on every node, and lets each reach the others; nothing is left afterwards. */
export async function checkSubnet(
  cluster: Cluster,
  subnet: string,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { client, steadyClient, namespace } = cluster
  if ((await client.get(subnetResource, { name: subnet })) === undefined)
    throw new ObjectMissingError('subnet', subnet, 'write one of: kubectl get subnets')
  const [pinger] = await runningPingers(cluster)
  const name = `${subnet}-conn-check-server`
  const resource = daemonSets as Resource
  await steadyClient.remove(resource, { namespace, name })
  signal.throwIfAborted()
  const remove = async (): Promise<void> => {
    await steadyClient.remove(resource, { namespace, name }, { propagation: 'Background' })
  }
  const cure = `kubectl -n ${namespace} delete daemonset ${name}`
  return leavingNothing({ remove, what: name, cure }, async () => {
    const image = pinger?.spec.containers[0]?.image ?? ''
    await steadyClient.create(resource, connCheckServer(name, namespace, subnet, image))
    const servers = await untilReady(cluster, name, signal)
    const addresses = servers.flatMap(({ status }) => (status?.podIPs ?? []).map(({ ip }) => ip))
    const ports = addresses.flatMap((ip) => [`tcp-${ip}-${tcpPort}`, `udp-${ip}-${udpPort}`])
    const found = await askPingers(
      cluster,
      servers,
      [
        ...['--network-mode=none', '--internal-dns=', '--pod-selector=app=none', '--sample-size=1'],
        `--external-address=${addresses.join(',')}`,
        `--target-ip-ports=${ports.join(',')}`,
      ],
      'server',
    )
    // A pod of another VPC reaches neither API server nor nodes, and need not.
    return found.filter(({ check }) => ['external', 'target-ip-ports', 'pinger'].includes(check))
  })
}

async function untilReady(cluster: Cluster, name: string, signal: AbortSignal): Promise<readonly Pod[]> {
  const { client, namespace } = cluster
  const untilMs = Date.now() + patienceMs
  for (;;) {
    const daemonSet = await client.get(daemonSets as Resource<Workload>, { namespace, name })
    const { desiredNumberScheduled: wanted = 0, numberReady = 0 } = daemonSet?.status ?? {}
    const { items } = await client.list(pods, { namespace, labelSelector: `conn-check=${name}` })
    const ready = items.filter(isReady)
    if (wanted > 0 && numberReady >= wanted && ready.length >= wanted) return ready
    if (Date.now() > untilMs) {
      const [waiting] = items.filter((pod) => !isReady(pod))
      throw new NotReadyError(
        'subnet',
        `${name}: ${ready.length} of ${wanted} pods run`,
        `see what they lack: kubectl ko why ${namespace}/${waiting?.metadata.name ?? name}`,
      )
    }
    await pause(500, undefined, { signal })
  }
}

function connCheckServer(name: string, namespace: string, subnet: string, image: string): KubeObject {
  const labels = { app: 'conn-check', 'conn-check': name }
  const from = (fieldPath: string) => ({ valueFrom: { fieldRef: { fieldPath } } })
  const spec = {
    selector: { matchLabels: labels },
    template: {
      metadata: { labels, annotations: { [podAnnotations().logicalSwitch.key]: subnet } },
      spec: {
        serviceAccountName: 'kube-ovn-app',
        automountServiceAccountToken: true,
        terminationGracePeriodSeconds: 0,
        tolerations: [{ operator: 'Exists' }],
        securityContext: {
          seccompProfile: { type: 'RuntimeDefault' },
          sysctls: [{ name: 'net.ipv4.ping_group_range', value: '0 2147483647' }],
        },
        containers: [
          {
            name: 'server',
            image,
            imagePullPolicy: 'IfNotPresent',
            command: ['node', '/kube-ovn/pinger.mjs'],
            args: [
              ...['--enable-verbose-conn-check', '--network-mode=none', '--internal-dns='],
              ...['--interval=3600', '--pod-selector=app=none', '--sample-size=1'],
            ],
            env: [
              { name: 'POD_IPS', ...from('status.podIPs') },
              { name: 'POD_NAME', ...from('metadata.name') },
              { name: 'POD_NAMESPACE', ...from('metadata.namespace') },
              { name: 'NODE_NAME', ...from('spec.nodeName') },
              { name: 'HOST_IP', ...from('status.hostIP') },
            ],
            // The kubelet may not reach a pod of another VPC.
            readinessProbe: {
              exec: { command: ['bash', '-c', `exec 3<>/dev/tcp/127.0.0.1/${tcpPort}`] },
              periodSeconds: 1,
            },
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
          },
        ],
      },
    },
  }
  return { metadata: { name, namespace, labels }, spec } as KubeObject
}

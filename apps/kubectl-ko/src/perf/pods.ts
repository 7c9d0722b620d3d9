import {
  Informer,
  nodes,
  pods,
  services,
  type Node,
  type Pod,
  type Resource,
  type Service,
} from '@kube-ovn/kube'
import { silentLogger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import type { Cluster } from '../cluster.ts'
import { podsOf } from '../components.ts'
import type { Context } from '../context.ts'
import { ComponentMissingError, NotReadyError, ObjectMissingError } from '../errors.ts'
import { readAll } from '../facts.ts'
import { leavingNothing } from '../leaving-nothing.ts'
import { isReady } from '../view/status-view.ts'
import { perfPort, serverProgram } from './programs.ts'

/** Of all that a measurement makes, by which it is found again and taken away. */
const label = 'app=PerfTest'
const labels = { app: 'PerfTest' } as const
/** Of the pod behind the Service. */
const serving = { env: 'server' } as const

/** When a pod ends by itself, because whoever made it was killed. */
const longestSeconds = 3600

interface PerfOptions {
  /** Image of the pods, with `node`; that of the agent without one. */
  readonly image?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly timeoutMs: number
}

export interface PerfPods {
  readonly from: string
  readonly to: string
  readonly client: Pod
  readonly hostClient: Pod
  /** Addresses of the three that are measured, of the first family. */
  readonly targets: { readonly pod: string; readonly host: string; readonly service: string }
}

/**
 * Does work with a client and a server on each network, on two nodes where there are two, and a Service of the server. Whatever
 * comes of it, they go.
 *
 * @throws RemnantsError when they could not be taken away
 */
export async function withPods<T>(
  cluster: Cluster,
  options: PerfOptions,
  { signal, stderr }: Pick<Context, 'signal' | 'stderr'>,
  work: (made: PerfPods) => Promise<T>,
): Promise<T> {
  const { from, to } = await nodesOf(cluster, options)
  const image = options.image ?? (await imageOfAgent(cluster))
  // What another measurement may have left.
  await removePods(cluster)
  signal.throwIfAborted()
  const remove = (): Promise<void> => {
    stderr.write('removing pods\n')
    return removePods(cluster)
  }
  const cure = `kubectl -n ${cluster.namespace} delete pods,services -l ${label}`
  return leavingNothing({ remove, what: label, cure }, async () => {
    stderr.write('starting pods\n')
    return work(await makePods(cluster, { ...options, from, to, image }, signal))
  })
}

async function makePods(
  cluster: Cluster,
  {
    from,
    to,
    image,
    timeoutMs,
  }: PerfOptions & { readonly from: string; readonly to: string; readonly image: string },
  signal: AbortSignal,
): Promise<PerfPods> {
  const { steadyClient: client, namespace } = cluster
  const server = serverProgram(perfPort)
  const made = [
    perfPod('test-server', to, image, server),
    perfPod('test-host-server', to, image, server, true),
    perfPod('test-client', from, image),
    perfPod('test-host-client', from, image, undefined, true),
  ]
  const service = await client.create(services, perfService(namespace))
  for (const pod of made) {
    signal.throwIfAborted()
    await client.create(pods, { ...pod, metadata: { ...pod.metadata, namespace } })
  }
  const ready = await untilReady(cluster, made.length, timeoutMs, signal)
  const named = (name: string): Pod =>
    ready.find(({ metadata }) => metadata.name === name) ?? perfPod(name, '', '')
  return {
    ...{ from, to, client: named('test-client'), hostClient: named('test-host-client') },
    targets: {
      pod: named('test-server').status?.podIP ?? '',
      host: named('test-host-server').status?.podIP ?? '',
      service: service.spec?.clusterIP ?? '',
    },
  }
}

async function removePods({ steadyClient: client, namespace }: Cluster): Promise<void> {
  for (const resource of [pods, services] as readonly Resource[]) {
    const { items } = await client.list(resource, { namespace, labelSelector: label })
    for (const { metadata } of items)
      await client.remove(resource, { namespace, name: metadata.name }, { gracePeriodSeconds: 0 })
  }
}

/** As upstream chooses: to the first node from the second one. */
async function nodesOf(cluster: Cluster, { from, to }: PerfOptions): Promise<{ from: string; to: string }> {
  const names = (await readAll(cluster, nodes)).filter(isNodeReady).map(({ metadata }) => metadata.name)
  for (const name of [from, to]) {
    if (name !== undefined && !names.includes(name))
      throw new ObjectMissingError('node', name, 'write one that is ready: kubectl get nodes')
  }
  const server = to ?? names.find((name) => name !== from) ?? names[0]
  const source = from ?? names.find((name) => name !== server) ?? server
  if (server === undefined || source === undefined)
    throw new ObjectMissingError('node', '', 'wait until a node is ready: kubectl get nodes')
  return { from: source, to: server }
}

function isNodeReady({ status }: Node): boolean {
  return status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true
}

/** It is on every node, so nothing is fetched. */
async function imageOfAgent(cluster: Cluster): Promise<string> {
  const [agent] = await podsOf(cluster, 'kube-ovn-cni')
  const image = agent?.spec.containers.find(({ name }) => name === 'cni-server')?.image
  if (image !== undefined) return image
  throw new ComponentMissingError('kube-ovn-cni', '', 'give an image that has node: kubectl ko perf IMAGE')
}

function perfPod(name: string, nodeName: string, image: string, program?: string, hostNetwork = false): Pod {
  const isServer = program !== undefined
  const container = {
    ...{ name: 'perf', image, imagePullPolicy: 'IfNotPresent' },
    command: ['node', '-e', program ?? 'setInterval(() => {}, 1e9)'],
    ...(isServer && { readinessProbe: { tcpSocket: { port: perfPort }, periodSeconds: 1 } }),
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
  }
  const spec = {
    ...{ nodeName, hostNetwork, restartPolicy: 'Never', activeDeadlineSeconds: longestSeconds },
    ...{ automountServiceAccountToken: false, terminationGracePeriodSeconds: 0 },
    securityContext: { seccompProfile: { type: 'RuntimeDefault' }, runAsNonRoot: true, runAsUser: 65_534 },
    tolerations: [{ operator: 'Exists' }],
    containers: [container],
  }
  return { metadata: { name, labels: { ...labels, ...(isServer && !hostNetwork && serving) } }, spec }
}

function perfService(namespace: string): Service {
  const port = (protocol: 'TCP' | 'UDP') => ({
    ...{ name: protocol.toLowerCase(), port: perfPort, targetPort: perfPort, protocol },
  })
  return {
    metadata: { namespace, name: 'test-server', labels },
    spec: { selector: { ...labels, ...serving }, ports: [port('TCP'), port('UDP')] },
  }
}

async function untilReady(
  { client, namespace }: Cluster,
  count: number,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<readonly Pod[]> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const done = Promise.withResolvers<readonly Pod[]>()
  await using informer = new Informer({
    ...{ client, resource: pods, namespace, labelSelector: label },
    ...{ clock: systemClock, logger: silentLogger },
  })
  const all = (): readonly Pod[] => [...informer.store.values()]
  using _listener = informer.onChange(() => {
    if (all().filter(isReady).length === count) done.resolve(all())
  })
  ended.addEventListener('abort', () => {
    const late = all().find((pod) => !isReady(pod))?.metadata.name ?? 'test-server'
    const cure = `see what it lacks: kubectl ko why ${namespace}/${late}, or choose other nodes with --from and --to`
    done.reject(signal.aborted ? signal.reason : new NotReadyError('pod', `${namespace}/${late}`, cure))
  })
  signal.throwIfAborted()
  informer.start(ended)
  return await done.promise
}

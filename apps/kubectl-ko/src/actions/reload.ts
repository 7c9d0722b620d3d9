import { kubectlAnnotations } from '@kube-ovn/annotations'
import {
  daemonSets,
  deployments,
  Informer,
  pods,
  type KubeClient,
  type KubeObject,
  type Resource,
} from '@kube-ovn/kube'
import { silentLogger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import type { Command } from 'commander'
import type { Cluster } from '../cluster.ts'
import { openCluster, outputOf, print, printOutcome, type Context } from '../context.ts'
import { ComponentMissingError, NotReadyError, UsageError } from '../errors.ts'

/** A Deployment or a DaemonSet, as far as it tells of a rollout. */
interface Rollout extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly updateStrategy?: { readonly type?: string } }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly availableReplicas?: number
    readonly desiredNumberScheduled?: number
    readonly updatedNumberScheduled?: number
    readonly numberAvailable?: number
  }
}

/** A component that is restarted. */
export interface Reloaded {
  readonly name: string
  readonly kind: 'Deployment' | 'DaemonSet'
}

/** Restarts components one after the other. */
export async function reload(context: Context, command: Command, chosen: readonly Reloaded[]): Promise<void> {
  const timeoutMs = Number(command.opts<{ readonly timeout: string }>().timeout) * 1000
  if (!(timeoutMs > 0)) throw new UsageError('timeout', '', 'write a number of seconds')
  await using cluster = await openCluster(context, command)
  const { output } = outputOf(command)
  const reloaded: { readonly component: string; readonly isInstalled: boolean; seconds?: number }[] = []
  // Each takes a while: in words it is told as soon as it is done.
  const tell = (words: string): void => {
    if (output !== 'json' && output !== 'yaml') print(context, words)
  }
  for (const { name, kind } of chosen) {
    const resource: Resource = kind === 'Deployment' ? deployments : daemonSets
    const startedMs = Date.now()
    const generation = await restart(cluster, name, resource)
    // Monitor and pinger need not be installed.
    if (generation === undefined) {
      reloaded.push({ component: name, isInstalled: false })
      tell(`${name}   not installed\n`)
      continue
    }
    await untilRolledOut(cluster, name, resource, {
      generation,
      timeoutMs,
      signal: context.signal,
    })
    const seconds = (Date.now() - startedMs) / 1000
    reloaded.push({ component: name, isInstalled: true, seconds })
    tell(`${name}   restarted   ${seconds.toFixed(1)} s\n`)
  }
  printOutcome(context, command, reloaded, '')
  if (reloaded.every(({ isInstalled }) => !isInstalled)) {
    const cure = 'see whether Kube-OVN is installed, and --system-namespace is its namespace'
    throw new ComponentMissingError('component', chosen.map(({ name }) => name).join(','), cure)
  }
}

/** Has the pods made anew, as `kubectl rollout restart` does; answers the generation that says so. */
async function restart(
  { client, namespace }: Cluster,
  name: string,
  resource: Resource<Rollout>,
): Promise<number | undefined> {
  if ((await client.get(resource, { namespace, name })) === undefined) return undefined
  const annotations = { [kubectlAnnotations.restartedAt]: new Date().toISOString() }
  const patch = { spec: { template: { metadata: { annotations } } } }
  const type = 'application/strategic-merge-patch+json'
  const { metadata, spec } = await client.patch(resource, { namespace, name }, type, patch)
  if (spec?.updateStrategy?.type === 'OnDelete') await removePods(client, namespace, name)
  return metadata.generation ?? 0
}

/** Nobody else does it where the chart says that pods are updated when they are deleted. */
async function removePods(client: KubeClient, namespace: string, name: string): Promise<void> {
  const { items } = await client.list(pods, { namespace })
  const own = items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.name === name))
  for (const { metadata } of own) await client.remove(pods, { namespace, name: metadata.name })
}

async function untilRolledOut(
  { client, namespace }: Cluster,
  name: string,
  resource: Resource<Rollout>,
  {
    generation,
    timeoutMs,
    signal,
  }: { readonly generation: number; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const rolledOut = Promise.withResolvers<void>()
  const fieldSelector = `metadata.name=${name}`
  await using informer = new Informer({
    ...{ client, resource, namespace, fieldSelector },
    ...{ clock: systemClock, logger: silentLogger },
  })
  using _listener = informer.onChange(({ new: now }) => {
    if (now !== undefined && isRolledOut(now, generation)) rolledOut.resolve()
  })
  ended.addEventListener('abort', () => {
    const cure = `see what its pods lack: kubectl -n ${namespace} get pods -o wide | grep ${name}`
    rolledOut.reject(signal.aborted ? signal.reason : new NotReadyError('component', name, cure))
  })
  signal.throwIfAborted()
  informer.start(ended)
  await rolledOut.promise
}

/** Whether all pods are of this generation, and none of another one is left. */
export function isRolledOut({ spec, status = {} }: Rollout, generation: number): boolean {
  if ((status.observedGeneration ?? 0) < generation) return false
  const wanted = status.desiredNumberScheduled ?? spec?.replicas ?? 1
  const updated = status.updatedNumberScheduled ?? status.updatedReplicas ?? 0
  const available = status.numberAvailable ?? status.availableReplicas ?? 0
  return updated >= wanted && available >= wanted && (status.replicas ?? wanted) <= wanted
}

import { Informer, pods, type KubeClient, type Pod } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import { type Backoff, backoffDelayMs, pause } from '@kube-ovn/time'
import { desiredLabels } from './desired-labels.ts'
import { Roles, type RolesOptions } from './roles.ts'

export interface LeaderLabelsOptions extends Omit<RolesOptions, 'onChange'> {
  readonly client: KubeClient
  readonly namespace: string
  readonly nodeName: string
  readonly log: Logger
}

const retry: Backoff = { initialMs: 200, maxMs: 10_000, factor: 2, jitter: 0.2 }

/**
 * Keeps the labels of ovn-central's pods by which tools find the leaders, until the signal is aborted.
 *
 * They are written through the status of the pods: who may do that can change nothing that a pod runs.
 */
export async function keepLeaderLabels(options: LeaderLabelsOptions, signal: AbortSignal): Promise<void> {
  const { client, namespace, nodeName, log } = options
  await using stack = new AsyncDisposableStack()
  let changed = Promise.withResolvers<void>()
  const onChange = (): void => changed.resolve()
  signal.addEventListener('abort', onChange, { once: true })
  const members = stack.use(
    new Informer({
      ...{ client, namespace, resource: pods, labelSelector: 'app=ovn-central' },
      ...{ logger: log, clock: systemClock, trim: trimPod },
    }),
  )
  stack.use(members.onChange(onChange))
  members.start(signal)
  const roles = stack.use(new Roles({ ...options, onChange }))
  const asking = roles.run(signal)
  for (let failures = 0; !signal.aborted;) {
    await changed.promise
    changed = Promise.withResolvers()
    try {
      for (const { labels, ...pod } of desiredLabels(members.store.values(), nodeName, roles.current)) {
        const patch = { metadata: { labels } }
        members.observe(
          await client.patch(pods, pod, 'application/merge-patch+json', patch, {
            subresource: 'status',
            signal,
          }),
        )
        log.info('leader labels written', { pod: pod.name, ...labels })
      }
      failures = 0
    } catch (err) {
      if (signal.aborted) break
      const retryMs = backoffDelayMs(retry, failures++, Math.random)
      log.warn('leader labels can not be written', { err, retryMs })
      await pause(systemClock, retryMs, signal)
      onChange()
    }
  }
  await asking
}

/** Leaves out what does not decide. */
function trimPod({ metadata, spec, status }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, labels } = metadata
  const { nodeName } = spec
  const { conditions } = status ?? {}
  return {
    metadata: {
      name,
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
      ...(labels && { labels }),
    },
    spec: { containers: [], ...(nodeName && { nodeName }) },
    ...(conditions && { status: { conditions } }),
  }
}

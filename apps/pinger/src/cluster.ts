import {
  Informer,
  nodes,
  pods,
  services,
  type KubeClient,
  type KubeObject,
  type Service,
} from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import type { ClusterView } from './targets.ts'

export interface ClusterOptions {
  readonly client: KubeClient
  readonly log: Logger
  readonly namespace: string
  readonly podSelector: string
  /** As NAMESPACE/NAME. */
  readonly services: readonly string[]
}

/** Follows pods, nodes and Services: a list once, then what changes. Lists in each round would be too much for a large cluster. */
export class Cluster implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack()
  readonly #pods: Informer<NonNullable<ClusterView['pods']>[number]>
  readonly #nodes: Informer<NonNullable<ClusterView['nodes']>[number]>
  readonly #services: readonly Informer<Service>[]

  constructor({
    client,
    log: logger,
    namespace,
    podSelector: labelSelector,
    services: names,
  }: ClusterOptions) {
    const common = { client, logger, clock: systemClock }
    this.#pods = this.#stack.use(new Informer({ ...common, resource: pods, namespace, labelSelector }))
    this.#nodes = this.#stack.use(
      new Informer({
        ...common,
        resource: nodes,
        // Images and conditions are most of a node.
        trim: ({ metadata: { name, resourceVersion, uid }, status }) => ({
          metadata: { name, ...(resourceVersion && { resourceVersion }), ...(uid && { uid }) },
          status: { addresses: status?.addresses ?? [] },
        }),
      }),
    )
    this.#services = names.map((name) => {
      const [serviceNamespace = '', serviceName = ''] = name.split('/')
      const fieldSelector = `metadata.name=${serviceName}`
      return this.#stack.use(
        new Informer({ ...common, resource: services, namespace: serviceNamespace, fieldSelector }),
      )
    })
  }

  /** Begins, until the signal is aborted. */
  start(signal: AbortSignal): void {
    for (const informer of this.#all) {
      informer.start(signal)
      informer.synced.catch(() => undefined)
    }
  }

  /** Waits for the first lists, for a limited time. */
  async settled(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    using _timer = systemClock.setTimer(timeoutMs, resolve)
    await Promise.race([promise, Promise.allSettled(this.#all.map(({ synced }) => synced))])
  }

  /** What is known. */
  get view(): ClusterView {
    return {
      pods: known(this.#pods),
      nodes: known(this.#nodes),
      services: this.#services.every(({ health }) => health.isSynced)
        ? this.#services.flatMap((informer) => known(informer) ?? [])
        : undefined,
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }

  get #all(): readonly Pick<Informer<KubeObject>, 'start' | 'synced'>[] {
    return [this.#pods, this.#nodes, ...this.#services]
  }
}

function known<T extends KubeObject>({ health, store }: Informer<T>): readonly T[] | undefined {
  return health.isSynced ? [...store.values()] : undefined
}

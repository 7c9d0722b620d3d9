import { Informer } from '@kube-ovn/kube'
import type { KubeClient, Resource } from '@kube-ovn/kube'
import type { Vpc } from '@kube-ovn/kube-api'
import type { Logger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import type { AnyInformer } from '@kube-ovn/reconcile'
import { watched, type WatchedStores } from '../watched.ts'

/** What the API server has of each resource: keys of objects and their versions. */
export type ResourceVersions = (
  resources: readonly Resource[],
) => Promise<readonly ReadonlyMap<string, string>[]>

export interface WatchedObjectsOptions {
  readonly client: KubeClient
  readonly resourceVersions: ResourceVersions
  readonly logger: Logger
  /** Rejects when a request is refused that would be tried again for ever. */
  readonly refused: Promise<never>
}

/** The informers of a controller, which can tell whether they are up to date. */
export class WatchedObjects implements AsyncDisposable {
  readonly stores: WatchedStores
  readonly informers: readonly AnyInformer[]
  readonly vpcs: Informer<Vpc>
  readonly #resourceVersions: ResourceVersions
  readonly #stack: AsyncDisposableStack
  #changes = 0
  #waiters: (() => void)[] = []

  private constructor(
    stores: WatchedStores,
    informers: readonly AnyInformer[],
    vpcs: Informer<Vpc>,
    resourceVersions: ResourceVersions,
    stack: AsyncDisposableStack,
  ) {
    this.stores = stores
    this.informers = informers
    this.vpcs = vpcs
    this.#resourceVersions = resourceVersions
    this.#stack = stack
    for (const informer of informers) informer.onChange(() => this.#changed())
  }

  static async open(options: WatchedObjectsOptions): Promise<WatchedObjects> {
    const { client, resourceVersions, logger, refused } = options
    await using stack = new AsyncDisposableStack()
    const common = { client, clock: systemClock, logger }
    const pods = stack.use(new Informer({ ...common, ...watched.pods }))
    const nodes = stack.use(new Informer({ ...common, ...watched.nodes }))
    const namespaces = stack.use(new Informer({ ...common, ...watched.namespaces }))
    const subnets = stack.use(new Informer({ ...common, ...watched.subnets }))
    const vpcs = stack.use(new Informer({ ...common, ...watched.vpcs }))
    const ips = stack.use(new Informer({ ...common, ...watched.ips }))
    const ipPools = stack.use(new Informer({ ...common, ...watched.ipPools }))
    const vips = stack.use(new Informer({ ...common, ...watched.vips }))
    const statefulSets = stack.use(new Informer({ ...common, ...watched.statefulSets }))
    const deployments = stack.use(new Informer({ ...common, ...watched.deployments }))
    const daemonSets = stack.use(new Informer({ ...common, ...watched.daemonSets }))
    const jobs = stack.use(new Informer({ ...common, ...watched.jobs }))
    const networkAttachments = stack.use(new Informer({ ...common, ...watched.networkAttachments }))
    const machines = stack.use(new Informer({ ...common, ...watched.machines }))
    const machineInstances = stack.use(new Informer({ ...common, ...watched.machineInstances }))
    const machineMigrations = stack.use(new Informer({ ...common, ...watched.machineMigrations }))
    const ours = [pods, nodes, namespaces, subnets, vpcs, ips, ipPools, vips, statefulSets]
    const workloads = [deployments, daemonSets, jobs]
    const informers = [
      ...ours,
      ...workloads,
      networkAttachments,
      machines,
      machineInstances,
      machineMigrations,
    ]
    for (const informer of informers) informer.start()
    await Promise.race([Promise.all(informers.map((informer) => informer.synced)), refused])
    const stores = {
      pods: pods.store,
      nodes: nodes.store,
      namespaces: namespaces.store,
      subnets: subnets.store,
      vpcs: vpcs.store,
      ips: ips.store,
      ipPools: ipPools.store,
      vips: vips.store,
      statefulSets: statefulSets.store,
      deployments: deployments.store,
      daemonSets: daemonSets.store,
      jobs: jobs.store,
      networkAttachments: networkAttachments.store,
      machines: machines.store,
      machineInstances: machineInstances.store,
      machineMigrations: machineMigrations.store,
    }
    return new WatchedObjects(stores, informers, vpcs, resourceVersions, stack.move())
  }

  /** How many changes were seen so far. */
  get changes(): number {
    return this.#changes
  }

  /** Resolves when the stores hold what the API server has. */
  async current(): Promise<void> {
    for (;;) {
      const seen = this.#changes
      const present = await this.#resourceVersions(this.informers.map(({ resource }) => resource))
      if (this.informers.every((informer, index) => holds(informer, present[index]))) return
      if (seen === this.#changes) await new Promise<void>((resolve) => this.#waiters.push(resolve))
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }

  #changed(): void {
    this.#changes++
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve()
  }
}

function holds({ store }: AnyInformer, present: ReadonlyMap<string, string> = new Map()): boolean {
  return (
    present.size === store.size &&
    [...present].every(([key, version]) => store.get(key)?.metadata.resourceVersion === version)
  )
}

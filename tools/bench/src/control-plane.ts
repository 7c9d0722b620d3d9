import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { podAnnotations } from '@kube-ovn/annotations'
import { Informer, namespaces, nodes, pods } from '@kube-ovn/kube'
import type { KubeObject, Pod, Resource } from '@kube-ovn/kube'
import { networkPolicies } from '@kube-ovn/kube-api/core'
import { silentLogger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import { node, pod } from '@kube-ovn/testing-builders'
import { chartCrds, startKubeApi, type ApiWrite, type KubeApi } from '@kube-ovn/testing-kube'
import { startNorthbound, type Northbound, type NorthboundOptions } from '@kube-ovn/testing-ovsdb'
import pMap from 'p-map'
import { ControllerProcess, type ControllerPlan } from './controller-process.ts'
import { within } from './within.ts'

const namespace = 'bench'

/** After which nothing is to be waited for. */
const standstillMs = 2 * 60_000

/** Requests that the API server is given at once. */
const requestsAtOnce = 24

/**
 * A real API server and a real Northbound without nodes that run anything: the controller meets real sizes on a small machine.
 *
 * Pods are bound to nodes when they are created, as the scheduler would have done.
 */
export class ControlPlane implements AsyncDisposable {
  readonly api: KubeApi
  readonly northbound: Northbound
  readonly #pods: Informer<Pod>
  readonly #allocated = new Set<string>()
  readonly #directory: string
  readonly #resources: AsyncDisposableStack
  #waiters: (() => void)[] = []
  #created = 0

  private constructor(parts: {
    readonly api: KubeApi
    readonly northbound: Northbound
    readonly pods: Informer<Pod>
    readonly directory: string
    readonly resources: AsyncDisposableStack
  }) {
    this.api = parts.api
    this.northbound = parts.northbound
    this.#pods = parts.pods
    this.#directory = parts.directory
    this.#resources = parts.resources
    this.#pods.onChange(({ key, new: seen }) => {
      if (seen === undefined) this.#allocated.delete(key)
      else if (podAnnotations().allocated.read(seen.metadata.annotations ?? {}) === true)
        this.#allocated.add(key)
      for (const wake of this.#waiters) wake()
      this.#waiters = []
    })
  }

  /** Starts both, and makes `nodeCount` nodes. */
  static async start(nodeCount: number, options: NorthboundOptions = {}): Promise<ControlPlane> {
    await using resources = new AsyncDisposableStack()
    const directory = mkdtempSync(join(tmpdir(), 'kube-ovn-bench-'))
    resources.defer(() => rm(directory, { recursive: true, force: true }))
    console.log('starting an API server and a Northbound')
    const [api, northbound] = await Promise.all([
      startKubeApi({ crds: [chartCrds] }),
      startNorthbound(options),
    ])
    resources.use(api)
    resources.use(northbound)
    await api.client.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    })
    await createAll(
      api,
      nodes,
      Array.from({ length: nodeCount }, (_, index) => benchNode(index)),
    )
    const informer = resources.use(
      new Informer({
        client: api.client,
        clock: systemClock,
        logger: silentLogger,
        resource: pods,
        trim: withoutSpec,
      }),
    )
    informer.start()
    await informer.synced
    return new ControlPlane({ api, northbound, pods: informer, directory, resources: resources.move() })
  }

  /** Starts a controller; whoever does so ends it. */
  startController(options: Pick<ControllerPlan, 'environment' | 'flags'> = {}): ControllerProcess {
    return ControllerProcess.start({
      kubeconfig: this.api.kubeconfigPath,
      northbound: this.northbound.address,
      logFile: join(this.#directory, 'controller.log'),
      ...options,
    })
  }

  /** Has a controller serve so many pods, and end. */
  async populate(count: number): Promise<void> {
    await using controller = this.startController()
    console.log(`creating ${count} pods`)
    await this.createPods(count)
    await this.untilAllocated()
    await controller.untilQuiet()
  }

  /** Creates pods as fast as the API server takes them, on all nodes in turn. */
  async createPods(count: number): Promise<void> {
    const first = this.#created
    this.#created += count
    const nodeNames = await this.api.client.list(nodes)
    await createAll(
      this.api,
      pods,
      Array.from({ length: count }, (_, index) =>
        pod({
          name: `pod-${first + index}`,
          namespace,
          node: nodeNames.items[(first + index) % nodeNames.items.length]?.metadata.name ?? '',
        }),
      ),
    )
  }

  /** Creates NetworkPolicies that are for every pod: each is a member of a port group for each. */
  async createPolicies(count: number): Promise<void> {
    const spec = { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] }
    const policies = Array.from({ length: count }, (_, index) => ({
      metadata: { name: `policy-${index}`, namespace },
      spec,
    }))
    await createAll(this.api, networkPolicies, policies)
  }

  /**
   * Resolves when every pod that was created has its address and its port.
   *
   * @throws Error when nothing has happened to any pod for two minutes
   */
  async untilAllocated(): Promise<void> {
    while (this.#allocated.size < this.#created) {
      const change = new Promise<void>((resolve) => this.#waiters.push(resolve))
      const seen = () => `another of ${this.#created} pods has its address; ${this.#allocated.size} have`
      await within(standstillMs, seen, change)
    }
  }

  /** Requests of the controller that changed something since {@link forgetCosts}, but for its Lease. */
  async writes(): Promise<readonly ApiWrite[]> {
    return (await this.api.writes(({ userAgent }) => userAgent.startsWith('kube-ovn-controller'))).filter(
      ({ resource }) => resource !== 'leases',
    )
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync()
  }
}

/** One that nothing runs on. */
export function benchNode(index: number): ReturnType<typeof node> {
  return node({
    name: `node-${index}`,
    addresses: [`172.18.${Math.floor(index / 250)}.${(index % 250) + 2}`],
  })
}

/** The bench only counts: what it does not look at costs no memory of the machine. */
function withoutSpec(one: Pod): Pod {
  const { managedFields: _managed, ...metadata } = one.metadata
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } }
}

/** Creates objects as fast as the API server takes them. */
export async function createAll<T extends KubeObject>(
  api: KubeApi,
  resource: Resource<T>,
  objects: readonly T[],
): Promise<void> {
  await pMap(objects, (object) => api.client.create(resource, object), { concurrency: requestsAtOnce })
}

import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { namespaces, nodes, pods } from '@kube-ovn/kube'
import type { KubeObject, Resource } from '@kube-ovn/kube'
import { networkPolicies } from '@kube-ovn/kube-api/core'
import { node, pod } from '@kube-ovn/testing-builders'
import { chartCrds, startKubeApi, type ApiWrite, type KubeApi } from '@kube-ovn/testing-kube'
import { startNorthbound, type Northbound, type NorthboundOptions } from '@kube-ovn/testing-ovsdb'
import pMap from 'p-map'
import { AllocatedPods } from './allocated-pods.ts'
import { ControllerProcess, type ControllerPlan } from './controller-process.ts'

const namespace = 'bench'

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
  /** Of the controller, as the chart has it: a token costs the API server far less than a certificate does. */
  readonly #kubeconfig: string
  /** There once somebody waits for pods: whoever does not look at them has no watch of ten thousand. */
  #allocated: Promise<AllocatedPods> | undefined
  readonly #directory: string
  readonly #resources: AsyncDisposableStack
  #created = 0

  private constructor(parts: {
    readonly api: KubeApi
    readonly kubeconfig: string
    readonly northbound: Northbound
    readonly directory: string
    readonly resources: AsyncDisposableStack
  }) {
    this.api = parts.api
    this.northbound = parts.northbound
    this.#kubeconfig = parts.kubeconfig
    this.#directory = parts.directory
    this.#resources = parts.resources
  }

  /** Starts both, and makes `nodeCount` nodes. */
  static async start(nodeCount: number, options: NorthboundOptions = {}): Promise<ControlPlane> {
    await using resources = new AsyncDisposableStack()
    const directory = mkdtempSync(join(tmpdir(), 'kube-ovn-bench-'))
    resources.defer(() => rm(directory, { recursive: true, force: true }))
    console.log('starting an API server and a Northbound')
    const [api, northbound] = await Promise.all([
      startKubeApi({ crds: [chartCrds], accounts: {} }),
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
    const kubeconfig = await api.accountKubeconfig('kube-system/ovn')
    return new ControlPlane({ api, kubeconfig, northbound, directory, resources: resources.move() })
  }

  /** Starts a controller; whoever does so ends it. */
  startController(options: Pick<ControllerPlan, 'environment' | 'flags'> = {}): ControllerProcess {
    return ControllerProcess.start({
      kubeconfig: this.#kubeconfig,
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
    this.#allocated ??= AllocatedPods.follow(this.api).then((pods) => this.#resources.use(pods))
    await (await this.#allocated).until(this.#created)
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

/** Creates objects as fast as the API server takes them. */
export async function createAll<T extends KubeObject>(
  api: KubeApi,
  resource: Resource<T>,
  objects: readonly T[],
): Promise<void> {
  await pMap(objects, (object) => api.client.create(resource, object), { concurrency: requestsAtOnce })
}

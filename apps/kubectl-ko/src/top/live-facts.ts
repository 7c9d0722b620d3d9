import {
  daemonSets,
  deployments,
  Informer,
  leases,
  nodes,
  pods,
  type KubeObject,
  type Lease,
  type Node,
  type Pod,
  type Resource,
} from '@kube-ovn/kube'
import { subnetResource, vpcResource, type Subnet, type Vpc } from '@kube-ovn/kube-api'
import { silentLogger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import type { Cluster } from '../cluster.ts'
import { readControllerState, type ControllerState } from '../controller-state.ts'
import type { ClusterFacts, Workload } from '../facts.ts'

/** What the state is told from, kept as it changes. */
export class LiveFacts implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack()
  readonly #namespace: string
  readonly #nodes: Informer<Node>
  readonly #pods: Informer<Pod>
  readonly #deployments: Informer<Workload>
  readonly #daemonSets: Informer<Workload>
  readonly #leases: Informer<Lease>
  readonly #subnets: Informer<Subnet>
  readonly #vpcs: Informer<Vpc>
  readonly #cluster: Cluster
  #controller: ControllerState | undefined

  constructor(cluster: Cluster, onChange: () => void) {
    const { client, namespace } = cluster
    this.#cluster = cluster
    const open = <T extends KubeObject>(resource: Resource<T>, selection: object = {}): Informer<T> => {
      const options = { client, resource, clock: systemClock, logger: silentLogger, ...selection }
      const informer = this.#stack.use(new Informer<T>(options))
      this.#stack.use(informer.onChange(onChange))
      return informer
    }
    this.#namespace = namespace
    this.#nodes = open(nodes)
    this.#pods = open(pods)
    this.#deployments = open(deployments as Resource<Workload>, { namespace })
    this.#daemonSets = open(daemonSets as Resource<Workload>, { namespace })
    this.#leases = open(leases, { namespace, fieldSelector: 'metadata.name=kube-ovn-controller' })
    this.#subnets = open(subnetResource, { mayBeAbsent: true })
    this.#vpcs = open(vpcResource, { mayBeAbsent: true })
  }

  /** Resolves when all has been read once. */
  async start(signal: AbortSignal): Promise<void> {
    const all = [
      ...[this.#nodes, this.#pods, this.#deployments, this.#daemonSets],
      ...[this.#leases, this.#subnets, this.#vpcs],
    ]
    for (const informer of all) informer.start(signal)
    await Promise.all([this.refresh(), ...all.map(({ synced }) => synced)])
  }

  /** Asks for what nobody tells by himself. */
  async refresh(): Promise<void> {
    this.#controller = await readControllerState(this.#cluster)
  }

  get facts(): ClusterFacts {
    return {
      nodes: [...this.#nodes.store.values()],
      pods: [...this.#pods.store.values()],
      workloads: [...this.#deployments.store.values(), ...this.#daemonSets.store.values()],
      lease: [...this.#leases.store.values()][0],
      subnets: [...this.#subnets.store.values()],
      vpcs: [...this.#vpcs.store.values()],
      controller: this.#controller,
      namespace: this.#namespace,
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}

import { readPodNetwork } from '@kube-ovn/annotations'
import { formatIp } from '@kube-ovn/ip'
import { Informer, KubeAlreadyExistsError, leases, nodes, objectKey, pods } from '@kube-ovn/kube'
import type { KubeClient, Pod } from '@kube-ovn/kube'
import { silentLogger } from '@kube-ovn/log'
import { nodePortName, podPortName } from '@kube-ovn/ovn-names'
import { systemClock } from '@kube-ovn/process'
import pMap from 'p-map'
import { ofStack, type Stack } from '../cluster/topology.ts'
import type { FakeChassis } from './fake-chassis.ts'
import {
  fakeAddresses,
  leaseObject,
  leaseRenewalMs,
  nodeObject,
  runningStatus,
  type FakeNode,
} from './fake-node.ts'

/** Requests that the API server is given at once. */
const requestsAtOnce = 16

const retryMs = 1000

/**
 * What kubelet and the node agent of many nodes do, as far as the API shows it: they register their nodes, renew Leases, let pods run as soon
 * as these have an address and their port is up, and let go of pods that are deleted.
 */
export class FakeKubelets implements AsyncDisposable {
  readonly #client: KubeClient
  readonly #chassis: FakeChassis
  readonly #stack: Stack
  readonly #nodes: ReadonlyMap<string, FakeNode>
  readonly #pods: Informer<Pod>
  /** Pod by name of its port. */
  readonly #podOfPort = new Map<string, string>()
  /** Pods to be looked at, each once. */
  readonly #due = new Set<string>()
  /** Running by their status, by uid: what was written is not written again. */
  readonly #running = new Set<string>()
  readonly #renewals: NodeJS.Timeout[] = []
  #workers = 0

  constructor(parts: {
    readonly client: KubeClient
    readonly chassis: FakeChassis
    readonly nodes: readonly FakeNode[]
    readonly stack: Stack
  }) {
    this.#client = parts.client
    this.#chassis = parts.chassis
    this.#stack = parts.stack
    this.#nodes = new Map(parts.nodes.map((node) => [node.name, node]))
    this.#pods = new Informer({
      client: parts.client,
      clock: systemClock,
      logger: silentLogger,
      resource: pods,
      fieldSelector: 'spec.nodeName!=',
      trim: withoutExtras,
    })
    this.#pods.onChange(({ key, old, new: pod }) => {
      if (old !== undefined && old.metadata.uid !== pod?.metadata.uid) this.#forget(old)
      if (pod !== undefined && this.#nodes.has(pod.spec.nodeName ?? '')) this.#look(key)
    })
    this.#chassis.onUp((port) => this.#look(this.#podOfPort.get(port)))
  }

  /** Registers the nodes, each with its port to the pod network, and begins to serve their pods. */
  async start(): Promise<void> {
    await pMap(this.#nodes.values(), (node) => this.#register(node), { concurrency: requestsAtOnce })
    this.#pods.start()
    await this.#pods.synced
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const renewal of this.#renewals) clearInterval(renewal)
    await this.#pods[Symbol.asyncDispose]()
  }

  async #register(node: FakeNode): Promise<void> {
    const { metadata } = await this.#createNode(node)
    await this.#renew(node, metadata.uid ?? '')
    this.#chassis.claim(nodePortName(node.name), node.name)
    // Registered one after the other, they do not all renew at once.
    this.#renewals.push(setInterval(() => void this.#renew(node, metadata.uid ?? ''), leaseRenewalMs))
  }

  async #createNode(node: FakeNode) {
    try {
      return await this.#client.create(nodes, nodeObject(node, this.#stack, new Date()))
    } catch (error) {
      const found =
        error instanceof KubeAlreadyExistsError
          ? await this.#client.get(nodes, { name: node.name })
          : undefined
      if (found === undefined) throw error
      return found
    }
  }

  /** A renewal that fails is made up for by the next; the server forgives three. */
  async #renew(node: FakeNode, uid: string): Promise<void> {
    const lease = leaseObject(node, uid, new Date())
    try {
      await this.#client.patch(leases, lease.metadata, 'application/apply-patch+yaml', lease, {
        fieldManager: 'fake-kubelet',
        force: true,
      })
    } catch (error) {
      report(`lease of ${node.name}`, error)
    }
  }

  #look(key: string | undefined): void {
    if (key === undefined) return
    this.#due.add(key)
    if (this.#workers < requestsAtOnce) void this.#work()
  }

  async #work(): Promise<void> {
    this.#workers++
    for (const key of this.#due) {
      this.#due.delete(key)
      const pod = this.#pods.store.get(key)
      if (pod === undefined) continue
      try {
        await this.#serve(pod)
      } catch (error) {
        report(`pod ${key}`, error)
        this.#running.delete(pod.metadata.uid ?? '')
        setTimeout(() => this.#look(key), retryMs)
      }
    }
    this.#workers--
  }

  async #serve(pod: Pod): Promise<void> {
    const node = this.#nodes.get(pod.spec.nodeName ?? '')
    const { uid = '', deletionTimestamp } = pod.metadata
    if (node === undefined) return
    if (deletionTimestamp !== undefined) return this.#end(pod)
    if (this.#running.has(uid) || pod.status?.phase === 'Running') return
    const hostIps = ofStack(this.#stack, fakeAddresses(node, 'kubernetes'))
    const podIps = pod.spec.hostNetwork === true ? hostIps : this.#attach(pod, node)
    if (podIps === undefined) return
    this.#running.add(uid)
    const patch = { metadata: { uid }, status: runningStatus(pod, hostIps, podIps, new Date()) }
    await this.#client.patch(pods, refOf(pod), 'application/merge-patch+json', patch, {
      subresource: 'status',
    })
  }

  /** The addresses of a pod whose port is up; undefined as long as it is not. */
  #attach(pod: Pod, node: FakeNode): readonly string[] | undefined {
    const network = readPodNetwork(pod.metadata.annotations)
    if (network === undefined) return undefined
    const port = portOf(pod)
    this.#podOfPort.set(port, objectKey(pod))
    this.#chassis.claim(port, node.name)
    if (!this.#chassis.isUp(port)) return undefined
    return [network.addresses.v4, network.addresses.v6]
      .filter((address) => address !== undefined)
      .map((address) => formatIp(address))
  }

  /** First the port goes, then the object, as with a pod that has containers. */
  async #end(pod: Pod): Promise<void> {
    this.#chassis.release(portOf(pod))
    const { uid } = pod.metadata
    await this.#client.remove(pods, refOf(pod), {
      gracePeriodSeconds: 0,
      ...(uid === undefined ? {} : { preconditions: { uid } }),
    })
  }

  #forget(pod: Pod): void {
    this.#running.delete(pod.metadata.uid ?? '')
    this.#podOfPort.delete(portOf(pod))
    this.#chassis.release(portOf(pod))
  }
}

function refOf({ metadata: { name, namespace = '' } }: Pod): {
  readonly name: string
  readonly namespace: string
} {
  return { name, namespace }
}

function portOf({ metadata: { name, namespace = '' } }: Pod): string {
  return podPortName(namespace, name)
}

/** Thousands of pods are kept. */
function withoutExtras({ metadata, spec, status }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, annotations, deletionTimestamp } = metadata
  return {
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec: {
      containers: spec.containers.map(({ name, image = '' }) => ({ name, image })),
      ...(spec.nodeName === undefined ? {} : { nodeName: spec.nodeName }),
      ...(spec.hostNetwork === undefined ? {} : { hostNetwork: spec.hostNetwork }),
    },
    ...(status?.phase === undefined ? {} : { status: { phase: status.phase } }),
  }
}

function report(what: string, error: unknown): void {
  process.stderr.write(`${new Date().toISOString()} ${what}: ${String(error)}\n`)
}

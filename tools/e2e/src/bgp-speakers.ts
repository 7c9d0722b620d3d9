import {
  podProcesses,
  runAt,
  type ApiObject,
  type Cluster,
  type LabNode,
  type PodObject,
  type Prometheus,
} from '@kube-ovn/lab'

/** The object of a session, as far as suites look at it. */
interface PeerObject extends ApiObject {
  readonly spec: { readonly node: string; readonly neighbor: string }
  readonly status?: {
    readonly state?: string
    readonly bfd?: string
    readonly lastEnd?: { readonly by?: string; readonly reason?: string }
    readonly prefixes?: { readonly wanted?: number; readonly advertised?: number; readonly received?: number }
    readonly conditions?: readonly {
      readonly status: string
      readonly reason: string
      readonly message?: string
    }[]
  }
}

/** The speakers of a lab, as operators see them. */
export class Speakers {
  readonly #cluster: Cluster
  readonly #prometheus: Prometheus

  constructor(cluster: Cluster, prometheus: Prometheus) {
    this.#cluster = cluster
    this.#prometheus = prometheus
  }

  /** The speaker's container on a node. */
  async processes(node: LabNode): Promise<readonly number[]> {
    const pod = await this.#podOn(node)
    // The oldest is the sandbox.
    return podProcesses(pod?.metadata.uid ?? '').slice(1)
  }

  /** As they are served by TLS to who may read them; nothing of a speaker that is not scraped yet. */
  async metrics(node: LabNode): Promise<string> {
    const instance = `${node.kubernetes.ipv4}:10667`
    const targets = await this.#prometheus.targets()
    const target = targets.find(({ labels }) => labels['instance'] === instance)
    return target === undefined ? '' : this.#prometheus.readPage(target)
  }

  /** What a metric of a node's speaker says of a router; `undefined` where it says nothing. */
  async metric(node: LabNode, name: string, peer: string): Promise<number | undefined> {
    const metrics = await this.metrics(node)
    const found = new RegExp(`^kube_ovn_speaker_${name}\\{[^}]*peer="${peer}"[^}]*\\} (\\d+)$`, 'm').exec(
      metrics,
    )
    return found === null ? undefined : Number(found[1])
  }

  /** 1 while there is a session; nothing while nobody answers. */
  async up(node: LabNode, peer: string): Promise<number | undefined> {
    return this.metric(node, 'bgp_peer_up', peer).catch(() => undefined)
  }

  async log(node: LabNode): Promise<string> {
    const pod = await this.#podOn(node)
    return runAt(node.place, ['sh', '-c', `cat /var/log/pods/kube-system_${pod?.metadata.name}_*/*/*.log`])
  }

  /** The status of the object of a session. */
  async status(node: LabNode, peer: string): Promise<PeerObject['status']> {
    const all = await this.#cluster.api.list<PeerObject>('/apis/kubeovn.io/v1/bgppeers')
    return all.find(({ spec }) => spec.node === node.name && spec.neighbor === peer)?.status
  }

  /** What its condition says, beginning with whether there is a session. */
  async condition(node: LabNode, peer: string): Promise<string> {
    const [{ status = '', reason = '', message = '' } = {}] =
      (await this.status(node, peer))?.conditions ?? []
    return `${status} ${reason}: ${message}`
  }

  async #podOn(node: LabNode): Promise<PodObject | undefined> {
    const all = await this.#cluster.api.list<PodObject>(
      '/api/v1/namespaces/kube-system/pods?labelSelector=app%3Dkube-ovn-speaker',
    )
    return all.find(({ spec }) => spec.nodeName === node.name)
  }
}

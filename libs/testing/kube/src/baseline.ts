import type { Etcd } from './etcd.ts'

const REGISTRY = '/registry/'

/** Keys that the API server keeps for itself, or that it or the controller manager puts back at any time. */
const OWN_KEYS = [
  /^\/registry\/masterleases\//,
  /^\/registry\/leases\/kube-system\/apiserver-/,
  /^\/registry\/(apiregistration\.k8s\.io|priorityclasses|flowschemas|prioritylevelconfigurations)\//,
  /^\/registry\/servicecidrs\/kubernetes$/,
  /^\/registry\/services\/endpoints\/default\/kubernetes$/,
  /^\/registry\/endpointslices\/default\/kubernetes$/,
  /^\/registry\/configmaps\/kube-system\/(extension-apiserver-authentication|kube-apiserver-legacy-.*)$/,
  /^\/registry\/(serviceaccounts|configmaps)\/(default|kube-[a-z-]+)\/(default|kube-root-ca\.crt)$/,
]

const DEFINITIONS = `${REGISTRY}apiextensions.k8s.io/`

/** The contents of a cluster to which a reset goes back. */
export class Baseline {
  readonly #etcd: Etcd
  readonly #entries: Map<string, string>

  private constructor(etcd: Etcd, entries: Map<string, string>) {
    this.#etcd = etcd
    this.#entries = entries
  }

  static async take(etcd: Etcd): Promise<Baseline> {
    return new Baseline(etcd, await etcd.entries(REGISTRY))
  }

  /** Keeps the custom resource definitions that are there now. */
  async keepDefinitions(): Promise<void> {
    for (const [key, value] of await this.#etcd.entries(DEFINITIONS)) this.#entries.set(key, value)
  }

  /** Removes what came since, and puts back what was changed or removed. */
  async restore(): Promise<void> {
    const present = await this.#etcd.entries(REGISTRY)
    const work: Promise<void>[] = []
    for (const key of present.keys()) {
      if (!this.#entries.has(key) && !isOwn(key)) work.push(this.#etcd.remove(key))
    }
    for (const [key, value] of this.#entries) {
      // The status of a definition changes by itself.
      const isRight = key.startsWith(DEFINITIONS) ? present.has(key) : present.get(key) === value
      if (!isRight && !isOwn(key)) work.push(this.#etcd.put(key, value))
    }
    await Promise.all(work)
  }
}

function isOwn(key: string): boolean {
  return OWN_KEYS.some((pattern) => pattern.test(key))
}

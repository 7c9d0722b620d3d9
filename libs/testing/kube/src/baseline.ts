import type { Entry, Etcd } from './etcd.ts'

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

/** The API server tells what happened while it started. */
const EVENTS = `${REGISTRY}events/`

const DEFINITIONS = `${REGISTRY}apiextensions.k8s.io/`

/** What is installed and not under test: definitions of resources, accounts, their rights, and what else they are held to. */
const INSTALLED = [
  DEFINITIONS,
  ...[
    ...['serviceaccounts', 'clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'],
    ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
  ].map((resource) => `${REGISTRY}${resource}/`),
]

const RIGHTS = /^\/registry\/(cluster)?role(binding)?s\//

/**
 * The contents of a cluster to which a reset goes back.
 *
 * What changed is found by revisions alone: the definitions of a cluster are megabytes, and stay as they are.
 */
export class Baseline {
  readonly #etcd: Etcd
  readonly #entries: Map<string, Entry>

  private constructor(etcd: Etcd, entries: Map<string, Entry>) {
    this.#etcd = etcd
    this.#entries = entries
  }

  static async take(etcd: Etcd): Promise<Baseline> {
    const entries = await etcd.entries(REGISTRY)
    for (const key of entries.keys()) if (key.startsWith(EVENTS)) entries.delete(key)
    return new Baseline(etcd, entries)
  }

  /** Keeps what is installed now: definitions, accounts and rights. */
  async keepInstalled(): Promise<void> {
    const kept = await Promise.all(INSTALLED.map((prefix) => this.#etcd.entries(prefix)))
    for (const entries of kept) for (const [key, entry] of entries) this.#entries.set(key, entry)
  }

  /** Removes what came since, and puts back what was changed or removed. Yields whether that was about rights. */
  async restore(): Promise<boolean> {
    const present = await this.#etcd.revisions(REGISTRY)
    const work: Promise<void>[] = []
    let hasRights = false
    for (const key of present.keys()) {
      if (!this.#entries.has(key) && !isOwn(key)) work.push(this.#etcd.remove(key))
    }
    for (const [key, { value, revision }] of this.#entries) {
      // The status of a definition changes by itself.
      const isRight = key.startsWith(DEFINITIONS) ? present.has(key) : present.get(key) === revision
      if (isRight || isOwn(key)) continue
      hasRights ||= RIGHTS.test(key)
      work.push(this.#putBack(key, value))
    }
    await Promise.all(work)
    return hasRights
  }

  async #putBack(key: string, value: string): Promise<void> {
    this.#entries.set(key, { value, revision: await this.#etcd.put(key, value) })
  }
}

function isOwn(key: string): boolean {
  return OWN_KEYS.some((pattern) => pattern.test(key))
}

import {
  findInterface,
  isInstalled,
  nodeNicName,
  type LocalOvs,
  type Observable,
} from '@kube-ovn/features-node'

/** Codes of the CNI specification for a plugin that cannot serve ADD. */
const notAvailable = 50
const notAvailableAndImpaired = 51

/** An informer, as far as it matters here. */
export interface Synced {
  readonly health: { readonly isSynced: boolean }
}

/** Knows what is missing before pods can be attached. */
export class Readiness {
  readonly #ovs: LocalOvs
  readonly #tunnelMtu: Observable<number | undefined>
  readonly #informers: ReadonlyMap<string, Synced>

  constructor(
    ovs: LocalOvs,
    tunnelMtu: Observable<number | undefined>,
    informers: ReadonlyMap<string, Synced>,
  ) {
    this.#ovs = ovs
    this.#tunnelMtu = tunnelMtu
    this.#informers = informers
  }

  /** Reasons, and the code that says whether pods that are attached suffer too. */
  forPods(): { readonly reasons: readonly string[]; readonly code: number } {
    const ovs =
      this.#ovs.state.phase === 'connected' ? [] : ['the local Open vSwitch database does not answer']
    const others = [
      ...[...this.#informers].flatMap(([name, { health }]) =>
        health.isSynced ? [] : [`the API server has not sent the ${name} yet`],
      ),
      ...(this.#tunnelMtu.value === undefined ? ['the end of the tunnels is not known'] : []),
      ...(isInstalled(findInterface(this.#ovs, nodeNicName))
        ? []
        : [`the flows of ${nodeNicName} are not installed`]),
    ]
    return { reasons: [...ovs, ...others], code: ovs.length > 0 ? notAvailableAndImpaired : notAvailable }
  }
}

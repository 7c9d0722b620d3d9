import { nothingToDo, type Sink, type SinkKind, type SinkPlan, type Wanted } from '@kube-ovn/fragments'
import { findInterface, type LocalOvs } from '../local-ovs.ts'
import type { PodNics } from '../pod-nic/feature.ts'

/** A port of a pod that has nobody behind it any more. */
export interface PortRemoval {
  /** Of the host's end. */
  readonly name: string
  /** Of the interface's row: another one of this name is another port. */
  readonly uuid: string
  /** `namespace/name`. */
  readonly pod: string
  readonly reason: string
}

export const portRemovals: SinkKind<PortRemoval> = {
  name: 'port-removals',
  targets: ({ name }) => [name],
  // The types say all.
  validate: () => undefined,
}

export interface PortRemovalSinkOptions {
  readonly ovs: Pick<LocalOvs, 'cache'>
  readonly podNics: Pick<PodNics, 'isBusy' | 'onIdle' | 'removePort'>
}

/** Takes ports of pods off by the way on which pods come and go, and never while one does. */
export class PortRemovalSink implements Sink<PortRemoval> {
  readonly kind = portRemovals
  readonly #options: PortRemovalSinkOptions

  constructor(options: PortRemovalSinkOptions) {
    this.#options = options
  }

  plan(name: string, { claims }: Wanted<PortRemoval>): SinkPlan {
    const { ovs, podNics } = this.#options
    const [claim] = claims
    if (claim === undefined || findInterface(ovs, name)?._uuid !== claim.fragment.uuid) return nothingToDo
    // Its end is told.
    if (podNics.isBusy(name)) return { ...nothingToDo, isWaiting: true }
    const { pod, reason } = claim.fragment
    return {
      changes: [`no port ${name} of ${pod}: ${reason}`],
      carryOut: async () => {
        if (!podNics.isBusy(name)) await podNics.removePort(name)
      },
    }
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    return this.#options.podNics.onIdle(listener)
  }
}

import { vpcAnnotations } from '@kube-ovn/annotations'
import { vpcResource, type Vpc } from '@kube-ovn/kube-api'
import type { ObjectChange, Store } from '@kube-ovn/kube'
import type { HeldDeletion, KubeEvent } from '@kube-ovn/reconcile'

export interface OrphanConfirmationOptions {
  /** The Vpc at which the operator is told, and which he annotates. */
  readonly vpc: string
  readonly vpcs: {
    readonly store: Store<Vpc>
    onChange(listener: (change: ObjectChange<Vpc>) => void): Disposable
  }
  readonly record: (event: KubeEvent) => void
  /** Lets the deletion of this token go ahead. */
  readonly confirm: (token: string) => void
}

/** Asks an operator whether rows without an object may be deleted, and takes his answer from an annotation. */
export class OrphanConfirmation implements Disposable {
  readonly #options: OrphanConfirmationOptions
  #subscription: Disposable | undefined
  #held: HeldDeletion | undefined
  #toldToken: string | undefined

  constructor(options: OrphanConfirmationOptions) {
    this.#options = options
  }

  /** Takes the answer that may be there already, and any that comes. */
  start(): void {
    const { vpc, vpcs } = this.#options
    this.#take(vpcs.store.get(vpc))
    this.#subscription = vpcs.onChange(({ key, new: current }) => {
      if (key !== vpc) return
      this.#take(current)
      this.#tell()
    })
  }

  /** Takes what the kernel holds back; nothing when it holds nothing any more. */
  held(deletion: HeldDeletion | undefined): void {
    this.#held = deletion
    this.#tell()
  }

  [Symbol.dispose](): void {
    this.#subscription?.[Symbol.dispose]()
  }

  #take(vpc: Vpc | undefined): void {
    const token = vpcAnnotations.deleteOrphans.read(vpc?.metadata.annotations)
    if (token !== undefined) this.#options.confirm(token)
  }

  /** Once for each deletion, as soon as there is a Vpc to tell it at. */
  #tell(): void {
    const held = this.#held
    const { vpc, vpcs, record } = this.#options
    const uid = vpcs.store.get(vpc)?.metadata.uid
    if (held === undefined || uid === undefined || held.token === this.#toldToken) return
    this.#toldToken = held.token
    record({
      regarding: { resource: vpcResource, name: vpc, uid },
      type: 'Warning',
      reason: 'OrphansHeld',
      message: heldMessage(held, vpc),
    })
  }
}

function heldMessage({ token, kinds }: HeldDeletion, vpc: string): string {
  const counts = kinds.map(({ kind, rows, of }) => `${rows} of ${of} rows of kind ${kind}`).join(', ')
  const command = `kubectl annotate --overwrite vpc ${vpc} ${vpcAnnotations.deleteOrphans.key}=${token}`
  return `${counts} belong to nothing that exists; if they may be deleted: ${command}`
}

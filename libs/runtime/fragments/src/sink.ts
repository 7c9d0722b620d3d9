import type { KubeOvnError } from '@kube-ovn/errors'

/** Who wants something: `<feature>/<key>`. */
export type Owner = string

/** What can be said of fragments of one kind without looking at the node. */
export interface SinkKind<F> {
  /** As it stands in logs and metrics. */
  readonly name: string
  /** The parts of the node that a fragment is about, none of them empty; each is compared and written by itself. */
  targets(this: void, fragment: F): readonly string[]
  /**
   * Refuses what could not be applied whatever the node is like.
   *
   * @throws KubeOvnError
   */
  validate(this: void, fragment: F): void
}

export interface Claim<F> {
  readonly owner: Owner
  readonly fragment: F
}

/** What is wanted of one target. */
export interface Wanted<F> {
  /** In the order of the features, which decides where two contradict each other. */
  readonly claims: readonly Claim<F>[]
  /**
   * Whether it is known of all features what they want of the sink. While it is not, nothing may be taken away that could be wanted.
   */
  readonly isComplete: boolean
}

/** What has to be done to a target. */
export interface SinkPlan {
  /** One line for each change, for people; none when the node is as it is wanted. */
  readonly changes: readonly string[]
  /** Claims that are left out, so that the others can be met, or of which a part can not be. */
  readonly refused?: ReadonlyMap<Owner, KubeOvnError>
  /** What else is wanted can not be done before something comes that the sink tells of. */
  readonly isWaiting?: boolean
  /** Makes all the changes that it can, and throws if it could not make one. */
  carryOut(): void | Promise<void>
}

/** Makes one kind of thing on the node what the fragments say. */
export interface Sink<F> {
  readonly kind: SinkKind<F>
  /** Compares, and writes nothing. */
  plan(target: string, wanted: Wanted<F>): SinkPlan | Promise<SinkPlan>
  /**
   * Targets on the node that bear a mark of ours, of an earlier agent too: those of which nobody wants anything are planned once it is known
   * of all features what they want. Absent: nothing is taken away after a restart.
   */
  owned?(): readonly string[] | Promise<readonly string[]>
  /** Tells which target somebody may have changed, `undefined` for any; those of which nothing is wanted are of no interest. */
  watch(listener: (target: string | undefined) => void): Disposable
}

export const nothingToDo: SinkPlan = { changes: [], carryOut: () => undefined }

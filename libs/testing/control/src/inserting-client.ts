import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { OvsdbClient, type Operation, type OperationResult, type Uuid } from 'ovsdb-client'

type Options = ConstructorParameters<typeof OvsdbClient<OvnNorthbound>>[0]

/** A client that tells which rows it has inserted: by what they are alone, they might be somebody else's. */
export class InsertingClient extends OvsdbClient<OvnNorthbound> {
  readonly #onInsert: (row: Uuid) => void

  constructor(options: Options, onInsert: (row: Uuid) => void) {
    super(options)
    this.#onInsert = onInsert
  }

  /** Answers the very promise of the client: whoever waits for it is not kept waiting longer than without this. */
  override transact(
    operations: readonly Operation[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly OperationResult[]> {
    const answer = super.transact(operations, options)
    const note = (results: readonly OperationResult[]): void => {
      for (const { uuid } of results) if (uuid !== undefined) this.#onInsert(uuid)
    }
    // Who asked is told of a failure.
    answer.then(note, () => undefined)
    return answer
  }
}

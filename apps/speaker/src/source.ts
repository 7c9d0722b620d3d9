import type { Announced } from '@kube-ovn/features-speaker'

/** Objects that say what is announced. */
export interface Source extends AsyncDisposable {
  /** Begins to follow them, until the signal is aborted. */
  start(signal: AbortSignal): void
  /** Resolves when all are known. */
  synced(): Promise<void>
  readonly isSynced: boolean
  announced(): Announced
}

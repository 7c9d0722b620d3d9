/** What is known of a change that must be confirmed, or is taken back. */
export interface Probation<K> {
  /** What was changed for, by {@link fingerprintOf}. */
  readonly fragment: string
  /** `open` until it is confirmed or taken back. */
  readonly state: 'open' | 'confirmed' | 'reverted'
  /** By when it must be confirmed; milliseconds since the epoch. */
  readonly untilMs: number
  /** What was before. */
  readonly kept: K
}

/**
 * What has to be done:
 *
 * - `begin`: nothing was changed yet for this;
 * - `confirm`: it was changed, and there is time left to confirm it;
 * - `take-back`: the time is over;
 * - `refuse`: it was taken back, and nothing else is wanted since;
 * - `hold`: it is as it should be.
 */
export type Verdict = 'begin' | 'confirm' | 'take-back' | 'refuse' | 'hold'

/** Judges a change that must be confirmed. */
export function judgeProbation(
  probation: Probation<unknown> | undefined,
  fragment: string | undefined,
  nowMs: number,
): Verdict {
  switch (probation?.state) {
    case undefined:
      return 'begin'
    case 'open':
      return nowMs < probation.untilMs ? 'confirm' : 'take-back'
    case 'reverted':
      return probation.fragment === fragment ? 'refuse' : 'begin'
    case 'confirmed':
      return 'hold'
  }
}

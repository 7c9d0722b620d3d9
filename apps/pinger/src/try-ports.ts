import { tryPort } from '@kube-ovn/probes'
import type { Outcome } from './outcome.ts'
import type { NamedPort } from './targets.ts'

/** How ports are tried. */
export interface TryOptions {
  readonly timeoutMs: number
  /** Each takes a descriptor. One that does not answer holds up none of the others. */
  readonly atATime: number
}

/** Tries all of them. Outcomes are in their order. */
export async function tryPorts(
  targets: readonly NamedPort[],
  { timeoutMs, atATime }: TryOptions,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  const left = targets.entries()
  const tryOthers = async (): Promise<void> => {
    for (const [index, target] of left) {
      const result = await tryPort(target, timeoutMs)
      outcomes[index] = result.isOpen
        ? { kind: 'port', target, tookMs: result.tookMs }
        : { kind: 'port', target, reason: result.error }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atATime, targets.length) }, tryOthers))
  return outcomes
}

/**
 * A fifth less or more: pingers that were started at the same moment, as by an upgrade, do not stay in step.
 *
 * @param random from 0 to 1, which is not among them
 */
export function jittered(ms: number, random: () => number = Math.random): number {
  return ms * (0.8 + 0.4 * random())
}

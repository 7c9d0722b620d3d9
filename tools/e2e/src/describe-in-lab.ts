import { describe } from 'vitest'
import { givenKubeconfig } from './given-cluster.ts'

/**
 * A `describe` whose tests, and the hooks of a file that has no others, are skipped with the reason on a cluster that is not a lab.
 *
 * @param power what only a lab does, e.g. `cuts networks`
 */
export function describeInLab(power: string): (name: string, define: () => void) => void {
  const isSkipped = givenKubeconfig !== undefined
  return (name, define) => {
    const reason = isSkipped ? ` (skipped: KUBECONFIG is set, and only a lab ${power})` : ''
    describe.skipIf(isSkipped)(`${name}${reason}`, () => {
      define()
    })
  }
}

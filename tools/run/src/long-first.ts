import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Suites in labs. Those that share one go one after the other and hand it on, and those that use theirs up are the last of them. The two
 * with three masters are far apart, so that they are never there at the same time.
 */
const suites = [
  'ha',
  ...['services', 'subnet-edits', 'matrix', 'fake-nodes', 'first-line', 'faults', 'services-networks'],
  ...['kubectl-ko', 'monitoring', 'tls', 'subnet-gateways', 'policies', 'ovs-rollout'],
  ...['examples', 'ipam-churn', 'bgp', 'topologies', 'machines'],
]

/** The files that take minutes, in the order in which they begin. */
const long = [
  'tools/golden/src/golden.it.test.ts',
  'tools/images/src/ovn-central.it.test.ts',
  ...suites.map((name) => `tools/e2e/src/${name}.e2e.test.ts`),
]

/**
 * Begins with the files that take minutes: at the end, each of them would keep one worker busy while the others have nothing left to do.
 * The rest is in the order of vitest's own.
 */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longFirst(await super.sort(files), ({ moduleId }) => moduleId)
  }
}

/** In the same order but for the long ones, by the paths of their files. */
export function longFirst<T>(files: readonly T[], pathOf: (file: T) => string): T[] {
  const rankOf = (file: T): number => {
    const rank = long.findIndex((path) => pathOf(file).endsWith(`/${path}`))
    return rank < 0 ? long.length : rank
  }
  return files.toSorted((a, b) => rankOf(a) - rankOf(b))
}

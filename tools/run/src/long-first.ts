import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files of the integration tests that take minutes, the longest first. */
const long = ['tools/golden/src/golden.it.test.ts', 'tools/images/src/ovn-central.it.test.ts']

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

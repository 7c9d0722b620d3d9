import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findCases, readDifferences, type GoldenCase } from '@kube-ovn/testing-golden'
import { expect, it } from 'vitest'
import { playCases } from './play.ts'
import { servedCases } from './served-cases.ts'
import { groupByProfile } from './stage.ts'

/** Cases that one stage plays; it takes ten times as long as one of them to be there. */
const largest = 24

const repository = join(import.meta.dirname, '../../..')

it('leaves what the original leaves, in every case that is served', { timeout: 1_800_000 }, async () => {
  const folders = servedCases.map((name) => join(repository, 'libs/testing/golden/cases', name))
  const cases = (await Promise.all(folders.map((folder) => findCases(folder)))).flat()
  const declared = await readDifferences(join(repository, 'docs/differences.md'))
  const logs = await mkdtemp(join(tmpdir(), 'kube-ovn-golden-'))
  const different: unknown[] = []
  const play = async (group: readonly GoldenCase[]): Promise<void> => {
    for await (const { golden, results, missingRights } of playCases(group, repository, declared, logs)) {
      different.push(...missingRights.map((right) => ({ case: golden.name, right })))
      for (const { step, northbound, kubernetes } of results) {
        different.push(
          ...[...northbound, ...kubernetes].map((difference) => ({ case: golden.name, step, ...difference })),
        )
      }
    }
  }
  // Most of the time each of them waits until nothing changes any more.
  const groups = [...groupByProfile(cases).values()].flatMap((group) => inParts(group, largest))
  await Promise.all(groups.map(play))
  expect(cases.length).toBeGreaterThan(6)
  expect(different).toEqual([])
})

/** Parts of nearly the same size, of at most so many. */
function inParts<T>(all: readonly T[], atMost: number): readonly (readonly T[])[] {
  const count = Math.ceil(all.length / atMost)
  return Array.from({ length: count }, (_, part) => all.filter((_one, index) => index % count === part))
}

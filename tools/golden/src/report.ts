import { describeDifferences } from '@kube-ovn/testing-golden'
import type { Difference } from '@kube-ovn/testing-golden'
import type { PlayedCase } from './play.ts'

/** Prints one case: a line when all is equal, else what differs. Answers whether all is equal. */
export function printCase({ golden, results, missingRights, ms }: PlayedCase): boolean {
  const isEqual =
    missingRights.length === 0 &&
    results.every(({ northbound, kubernetes }) => northbound.length + kubernetes.length === 0)
  console.log(
    `${isEqual ? 'equal    ' : 'DIFFERENT'} ${golden.name} (${results.length} steps, ${(ms / 1000).toFixed(1)} s)`,
  )
  for (const { step, northbound, kubernetes } of results) {
    printDifferences(`${step}/northbound.json`, northbound)
    printDifferences(`${step}/kubernetes.json`, kubernetes)
  }
  for (const right of missingRights) console.log(`  the chart does not say that ${right}`)
  return isEqual
}

function printDifferences(file: string, differences: readonly Difference[]): void {
  if (differences.length === 0) return
  console.log(`  ${file}  (- recorded, + ours)`)
  for (const line of describeDifferences(differences)) console.log(`    ${line}`)
}

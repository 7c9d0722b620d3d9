import type { Difference, GoldenCase, StepResult } from '@kube-ovn/testing-golden'

/** Prints one case: a line when all is equal, else what only one side has. Answers whether all is equal. */
export function printCase(golden: GoldenCase, results: readonly StepResult[], ms: number): boolean {
  const isEqual = results.every(({ northbound, kubernetes }) => northbound.length + kubernetes.length === 0)
  console.log(
    `${isEqual ? 'equal    ' : 'DIFFERENT'} ${golden.name} (${results.length} steps, ${(ms / 1000).toFixed(1)} s)`,
  )
  for (const { step, northbound, kubernetes } of results) {
    for (const difference of northbound) printDifference(`${step} northbound`, difference)
    for (const difference of kubernetes) printDifference(`${step} kubernetes`, difference)
  }
  return isEqual
}

function printDifference(where: string, { kind, side, object }: Difference): void {
  console.log(`  ${where} ${side === 'recorded' ? '-' : '+'} ${kind} ${JSON.stringify(object)}`)
}

import { runCheck, runChecks, type Check, type CheckGroup, type Cluster } from '@kube-ovn/lab'

/**
 * Runs checks of the lab, and says what did not hold.
 *
 * Packets and seconds are measured on a machine that others use as well: what did not hold must hold alone.
 */
export async function findFailures(cluster: Cluster, checks: readonly Check[]): Promise<readonly string[]> {
  const groups = await runChecks(cluster, checks, ({ name, ms }) => {
    console.log(`${name}: ${(ms / 1000).toFixed(1)} s`)
  })
  const failed = new Set(groups.filter((group) => failures([group]).length > 0).map(({ name }) => name))
  const doubtful = checks.filter(({ name }) => failed.has(name))
  for (const text of failures(groups)) console.log(`tried again: ${text}`)
  const final = groups.filter(({ name }) => !doubtful.some((check) => check.name === name))
  for (const check of doubtful) final.push(await runCheck(cluster, check))
  return failures(final)
}

/** What did not hold, as text, so that the report of a failure says it all. */
export function failures(groups: readonly CheckGroup[]): readonly string[] {
  return groups.flatMap(({ name, rows }) =>
    rows
      .filter(({ isOk }) => !isOk)
      .map((row) => `${name}: ${row.name}: expected ${row.expected}, saw ${row.seen}`),
  )
}

import { existsSync } from 'node:fs'
import { run } from '@kube-ovn/testing-docker'

/** Says which process holds a container, by its id. */
export const holderLabel = 'kube-ovn.test.holder'

/**
 * Removes what a process created and did not start because it was killed in between.
 *
 * Such a container runs nothing, and so nothing in it can see that its process has gone.
 */
export async function removeUnstarted(): Promise<void> {
  const format = `{{.ID}} {{.Label "${holderLabel}"}}`
  const filters = ['--filter', 'status=created', '--filter', `label=${holderLabel}`]
  const output = await run(['docker', 'ps', '--all', ...filters, '--format', format])
  const ids = output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '))
    .filter(([, holder]) => !existsSync(`/proc/${holder}`))
    .map(([id]) => String(id))
  // Another process may remove the same ones, and `--force` does not mind.
  if (ids.length > 0) await run(['docker', 'rm', '--force', ...ids])
}

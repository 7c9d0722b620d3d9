import type { KubeOvnError } from '@kube-ovn/errors'

type Details = Readonly<Record<string, unknown>>

/**
 * Puts an error into one line for a user: which field is at fault, with which value, what is wrong and what to do.
 *
 * @param field where the user wrote what is at fault, for errors that only know values
 */
export function problemText(error: KubeOvnError, field?: string): string {
  const { cure, field: known, ...values } = error.details as Details
  const all = field === undefined && known === undefined ? values : { field: known ?? field, ...values }
  const facts = Object.entries(all)
    .filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join('+') : String(value)}`)
  const what = facts.length === 0 ? error.message : `${error.message} (${facts.join(' ')})`
  return typeof cure === 'string' ? `${what}; ${cure}` : what
}

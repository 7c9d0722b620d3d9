import type { KubeOvnError } from './kube-ovn-error.ts'
import { shortened } from './shortened.ts'

type Details = Readonly<Record<string, unknown>>

/**
 * Puts an error into one line for a user: which field is at fault, with which value, what is wrong and what to do.
 *
 * @param field where the user wrote what is at fault, for errors that only know values
 */
export function problemText(error: KubeOvnError, field?: string): string {
  const { cure, field: known, ...values } = error.details as Details
  const all = field === undefined && known === undefined ? values : { field: known ?? field, ...values }
  return lineOf(error.message, all, cure)
}

/** What is wrong, with the values that are there, and what to do. */
export function lineOf(message: string, values: Details, cure: unknown): string {
  const facts = Object.entries(values)
    .filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}=${Array.isArray(value) ? listText(value, '+') : String(value)}`)
  const what = facts.length === 0 ? message : `${message} (${facts.join(' ')})`
  return typeof cure === 'string' ? `${what}; ${cure}` : what
}

/** All of a short list, and the beginning of a long one. */
export function listText(items: readonly unknown[], separator: string): string {
  return shortened(items.join(separator))
}

import type { KubeOvnError } from '@kube-ovn/errors'

/** Puts an error into one line for a user: what is wrong, with which values, and what to do. */
export function refusalText(error: KubeOvnError): string {
  const { cure, ...values } = error.details as Readonly<Record<string, unknown>>
  const facts = Object.entries(values)
    .filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join('+') : String(value)}`)
  const what = facts.length === 0 ? error.message : `${error.message} (${facts.join(' ')})`
  return typeof cure === 'string' ? `${what}; ${cure}` : what
}

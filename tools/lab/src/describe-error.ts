import type { KubeOvnError } from '@kube-ovn/errors'

/** What a user is told: what is wrong, in one sentence, and below it what to do. */
export function describeError(error: KubeOvnError): string {
  const { cure, ...details } = error.details as Readonly<Record<string, unknown>> & { readonly cure?: string }
  const seen = Object.entries(details).map(([name, value]) => `${name} ${String(value)}`)
  const sentence = seen.length === 0 ? error.message : `${error.message}: ${seen.join(', ')}`
  return cure === undefined ? `${sentence}\n` : `${sentence}\n→ ${cure}\n`
}

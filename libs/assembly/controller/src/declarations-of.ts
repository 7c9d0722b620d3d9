import { domains, mergeDeclarations } from '@kube-ovn/domains-control'
import type { ControlFeature, Declarations } from '@kube-ovn/domains-control'

/**
 * What features and the domains need together.
 *
 * @throws ConflictingDeclarationError when two want one resource or one flag in different ways
 * @throws TrimmedFieldError when one writes what is not kept of a resource, UndeclaredWritesError when it does not say what it writes
 */
export function declarationsOf(features: readonly ControlFeature[]): Declarations {
  return mergeDeclarations([domains, ...features])
}

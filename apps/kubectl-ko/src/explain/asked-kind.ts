import { namespaces, networkPolicies, nodes, pods, services, type Resource } from '@kube-ovn/kube'
import {
  adminNetworkPolicyResource,
  baselineAdminNetworkPolicyResource,
  clusterNetworkPolicyResource,
  definitions,
  multiNetworkPolicyResource,
} from '@kube-ovn/kube-api'
import { featuresWithRows } from '@kube-ovn/ovn-names'
import { UsageError } from '../errors.ts'

/** A kind of objects, which the API need not serve, or a feature, by its own keys. */
export type AskedKind =
  { readonly kind: string; readonly resource: Resource | undefined } | { readonly feature: string }

/** With the short names of kubectl. */
const kinds: readonly { readonly resource: Resource; readonly shortNames: readonly string[] }[] = [
  ...definitions.map(({ resource, shortNames }) => ({ resource, shortNames })),
  { resource: pods, shortNames: ['po'] },
  { resource: nodes, shortNames: ['no'] },
  { resource: namespaces, shortNames: ['ns'] },
  { resource: services, shortNames: ['svc'] },
  { resource: networkPolicies, shortNames: ['netpol'] },
  { resource: multiNetworkPolicyResource, shortNames: ['mnp'] },
  { resource: adminNetworkPolicyResource, shortNames: ['anp'] },
  { resource: baselineAdminNetworkPolicyResource, shortNames: ['banp'] },
  { resource: clusterNetworkPolicyResource, shortNames: ['cnp'] },
] as readonly { readonly resource: Resource; readonly shortNames: readonly string[] }[]

/** Machines of KubeVirt are known by the ports of their pods alone. */
const machines: ReadonlySet<string> = new Set(
  ['virtualmachine', 'virtualmachineinstance']
    .flatMap((name) => [name, `${name}s`])
    .concat('vm', 'vms', 'vmi'),
)

/**
 * Knows a kind by its name in any case, its plural, its short names, or as a feature is named.
 *
 * @throws UsageError
 */
export function askedKind(text: string): AskedKind {
  const wanted = bare(text)
  const found = kinds.find(
    ({ resource, shortNames }) =>
      [resource.kind, resource.plural].some((name) => bare(name) === wanted) ||
      shortNames.includes(text.toLowerCase()),
  )
  if (found !== undefined) return { kind: found.resource.kind, resource: found.resource }
  if (machines.has(wanted)) return { kind: 'VirtualMachine', resource: undefined }
  if (featuresWithRows.includes(text)) return { feature: text }
  const known = kinds.map(({ resource }) => resource.kind.toLowerCase()).toSorted()
  throw new UsageError('kind', text, `write one of: ${known.join(', ')}`)
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll('-', '')
}

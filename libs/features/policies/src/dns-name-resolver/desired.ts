import { apiVersion, dnsNameResolverResource } from '@kube-ovn/kube-api'
import { nothing, type Desired, type KubePatch } from '@kube-ovn/reconcile'
import type { ResolverSnapshot } from './snapshot.ts'

/**
 * Computes the DNSNameResolvers of the names of a policy. CoreDNS finds them by these names and writes what it answers.
 *
 * @see https://kubeovn.github.io/docs/
 */
export function desiredResolvers({ label, wanted, surplus }: ResolverSnapshot): Desired {
  return {
    ...nothing,
    patches: [
      ...surplus.map((name): KubePatch => ({ resource: dnsNameResolverResource, name, remove: true })),
      ...wanted.map((one) => applied(one, label)),
    ],
  }
}

function applied(
  { name, domain, owners }: ResolverSnapshot['wanted'][number],
  label: ResolverSnapshot['label'],
): KubePatch {
  const [key = '', value = ''] = label.split('/')
  const owner = owners.length === 0 ? {} : { ownerReferences: [...owners] }
  return {
    ...{ resource: dnsNameResolverResource, name },
    apply: {
      ...{ apiVersion, kind: dnsNameResolverResource.kind },
      metadata: { name, labels: { [key]: value }, ...owner },
      spec: { name: domain },
    },
  }
}

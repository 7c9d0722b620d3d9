import { controllerFinalizer } from '@kube-ovn/annotations'
import { apiVersion, subnetResource, withObservedGeneration } from '@kube-ovn/kube-api'
import type { KubePatch } from '@kube-ovn/reconcile'
import { withOurFinalizer, withoutOurFinalizer } from '@kube-ovn/domains-control'
import { inEffectOf } from '@kube-ovn/domains-control/topology'
import { subnetConditions } from './conditions.ts'
import type { SubnetSnapshot } from './snapshot.ts'

type Fragment = NonNullable<KubePatch['merge']>

/** Computes the Subnet object: its normal form, our finalizer, what of it is in effect, and its conditions. */
export function desiredObjects(subnet: SubnetSnapshot): readonly KubePatch[] {
  const { name, object, normalised, builtIn } = subnet
  const patches: KubePatch[] = []
  if (normalised !== undefined) {
    const metadata = subnet.isDeleting
      ? {}
      : { metadata: { finalizers: withOurFinalizer(object?.metadata.finalizers) } }
    patches.push({
      resource: subnetResource,
      name,
      merge: { ...metadata, spec: { ...normalised } },
      ...(builtIn === undefined
        ? {}
        : {
            create: {
              apiVersion,
              kind: subnetResource.kind,
              metadata: { name, finalizers: [controllerFinalizer] },
              spec: { ...builtIn, ...normalised },
            },
          }),
    })
  }
  patches.push({ resource: subnetResource, name, subresource: 'status', merge: { status: status(subnet) } })
  return patches
}

/** What is accepted is told alone, for everything else is so only when the rows are. */
function status(subnet: SubnetSnapshot): Fragment {
  const network = subnet.accepted ?? subnet.inEffect
  const said = network === undefined ? null : { ...inEffectOf(network) }
  const inEffect = subnet.canSayInEffect ? { inEffect: said } : {}
  if (subnet.accepted !== undefined) return inEffect
  const { observed, now } = subnet
  const conditions = withObservedGeneration(subnetConditions(subnet), observed.observedGeneration, now)
  return { ...observed, ...inEffect, conditions: conditions.map((condition) => ({ ...condition })) }
}

/** Lets a deleted subnet go. */
export function finalizerRemoval(subnet: SubnetSnapshot): readonly KubePatch[] {
  const finalizers = withoutOurFinalizer(subnet.object?.metadata.finalizers)
  return [
    {
      resource: subnetResource,
      name: subnet.name,
      merge: { metadata: { finalizers } },
    },
  ]
}

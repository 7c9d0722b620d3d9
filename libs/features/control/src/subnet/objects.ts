import { controllerFinalizer, deprecatedControllerFinalizer } from '@kube-ovn/annotations'
import { apiVersion, subnetResource } from '@kube-ovn/kube-api'
import type { KubePatch } from '@kube-ovn/reconcile'
import { subnetConditions } from './conditions.ts'
import type { SubnetSnapshot } from './snapshot.ts'

/** Computes the Subnet object: its normal form, our finalizer and its conditions. */
export function desiredObjects(subnet: SubnetSnapshot): readonly KubePatch[] {
  const { name, object, normalised, builtIn } = subnet
  const patches: KubePatch[] = []
  if (normalised !== undefined) {
    const metadata = subnet.isDeleting
      ? {}
      : { metadata: { finalizers: withOurs(object?.metadata.finalizers ?? []) } }
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
  patches.push({
    resource: subnetResource,
    name,
    subresource: 'status',
    merge: { status: { conditions: subnetConditions(subnet).map((condition) => ({ ...condition })) } },
  })
  return patches
}

/** Lets a deleted subnet go. */
export function finalizerRemoval(subnet: SubnetSnapshot): readonly KubePatch[] {
  const finalizers = subnet.object?.metadata.finalizers ?? []
  return [
    {
      resource: subnetResource,
      name: subnet.name,
      merge: { metadata: { finalizers: finalizers.filter((finalizer) => !isOurs(finalizer)) } },
    },
  ]
}

function withOurs(finalizers: readonly string[]): readonly string[] {
  return [...finalizers.filter((finalizer) => !isOurs(finalizer)), controllerFinalizer]
}

function isOurs(finalizer: string): boolean {
  return finalizer === controllerFinalizer || finalizer === deprecatedControllerFinalizer
}

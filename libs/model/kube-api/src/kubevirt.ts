import type { KubeObject, OwnerReference, Resource } from './core/object.ts'
import type { PodTemplate } from './core/kinds.ts'

/*
 * Kinds of KubeVirt, reduced to the fields that are read here. Their definitions are not ours, and need not be installed.
 * Documentation of each field is KubeVirt's own: https://kubevirt.io/api-reference/
 */

/** A machine, running or not. */
export interface VirtualMachine extends KubeObject {
  readonly spec?: {
    readonly template?: PodTemplate & {
      readonly spec?: {
        readonly networks?: readonly { readonly multus?: { readonly networkName?: string } }[]
      }
    }
  }
}

/** A machine that runs, in one pod or, while it moves, in two. */
export interface VirtualMachineInstance extends KubeObject {
  readonly status?: { readonly phase?: string }
}

/** The move of a running machine into another pod, mostly on another node. */
export interface VirtualMachineInstanceMigration extends KubeObject {
  /** Name of the machine's instance. */
  readonly spec?: { readonly vmiName?: string }
  /** `Succeeded` and `Failed` are final. */
  readonly status?: { readonly phase?: string }
}

const kubevirt = { group: 'kubevirt.io', version: 'v1', namespaced: true }

export const virtualMachineResource: Resource<VirtualMachine> = {
  ...kubevirt,
  kind: 'VirtualMachine',
  plural: 'virtualmachines',
}

export const virtualMachineInstanceResource: Resource<VirtualMachineInstance> = {
  ...kubevirt,
  kind: 'VirtualMachineInstance',
  plural: 'virtualmachineinstances',
}

export const virtualMachineInstanceMigrationResource: Resource<VirtualMachineInstanceMigration> = {
  ...kubevirt,
  kind: 'VirtualMachineInstanceMigration',
  plural: 'virtualmachineinstancemigrations',
}

/** The instance that a pod runs, by its owner reference. */
export function instanceOf(owners: readonly OwnerReference[] = []): OwnerReference | undefined {
  return owners.find(
    ({ apiVersion, kind }) =>
      kind === virtualMachineInstanceResource.kind && apiVersion.startsWith(`${kubevirt.group}/`),
  )
}

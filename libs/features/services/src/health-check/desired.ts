import { apiVersion, subnetResource, vipResource, type Vip } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'

/** What decides about the address from which backends in a subnet are asked whether they are well. */
export interface SourceSnapshot {
  readonly subnet: string
  /** Of the Subnet; absent when there can be no addresses of it. */
  readonly uid: string | undefined
  readonly isWanted: boolean
  /** The Vip that is named like the Subnet. */
  readonly vip: Vip | undefined
}

/** Computes the Vip of a subnet. One that a user made, to choose the address, is his. */
export function desiredSource({ subnet, uid, isWanted, vip }: SourceSnapshot): Desired {
  if (isWanted) {
    if (vip !== undefined || uid === undefined) return nothing
    const owner = { apiVersion, kind: subnetResource.kind, name: subnet, uid }
    const create = {
      ...{ apiVersion, kind: vipResource.kind, metadata: { name: subnet, ownerReferences: [owner] } },
      spec: { subnet },
    }
    return { ...nothing, patches: [{ resource: vipResource, name: subnet, create }] }
  }
  if (vip === undefined || !isOurs(vip)) return nothing
  return { ...nothing, patches: [{ resource: vipResource, name: subnet, remove: true }] }
}

function isOurs({ metadata: { name, ownerReferences = [] } }: Vip): boolean {
  return ownerReferences.some((owner) => owner.kind === subnetResource.kind && owner.name === name)
}

import { apiVersion, vpcResource, type OvnEip } from '@kube-ovn/kube-api'

/** The Vpc for whose connection the OvnEip was made; none for one that a user made. */
export function vpcsOfEip({ metadata: { ownerReferences = [] } }: OvnEip): readonly string[] {
  return ownerReferences
    .filter((owner) => owner.kind === vpcResource.kind && owner.apiVersion === apiVersion)
    .map(({ name }) => name)
}

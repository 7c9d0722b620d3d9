import { subnetResource } from '@kube-ovn/kube-api'
import { namespaces } from '@kube-ovn/kube-api/core'
import { namespace, subnet } from '@kube-ovn/testing-builders'
import type { ControlCluster } from './control-cluster.ts'

/** Makes a node, a namespace `shop` with a subnet `blue` of both families, and a subnet `red` of IPv4 that is no namespace's. */
export async function createShop({ client, user }: ControlCluster): Promise<void> {
  await user.createNodes('n1')
  await client.create(namespaces, namespace({ name: 'shop' }))
  const blue = subnet({ name: 'blue', cidrBlock: '10.17.0.0/24,fd00:17::/120', namespaces: ['shop'] })
  await client.create(subnetResource, blue)
  await client.create(subnetResource, subnet({ name: 'red', cidrBlock: '10.18.0.0/24' }))
}

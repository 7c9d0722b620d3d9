import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { applyAll, parseManifests, type Cluster } from '@kube-ovn/lab'
import { foreignCrds } from '@kube-ovn/testing-kube'

/** Defines the kinds of the network policy API, which a cluster has of its own accord or not at all. */
export function definePolicyKinds(cluster: Cluster): Promise<void> {
  return define(cluster, 'network-policy-api.yaml')
}

/** Defines MultiNetworkPolicy, which whoever wants policies of further networks brings along. */
export function defineMultiNetworkPolicy(cluster: Cluster): Promise<void> {
  return define(cluster, 'multi-network-policies.yaml')
}

async function define({ api }: Cluster, file: string): Promise<void> {
  await applyAll(api, parseManifests(await readFile(join(foreignCrds, file), 'utf8')))
}

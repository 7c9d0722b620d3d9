import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { applyAll, parseManifests, type Cluster } from '@kube-ovn/lab'
import { foreignCrds } from '@kube-ovn/testing-kube'

/** Defines the kinds of the network policy API, which a cluster has of its own accord or not at all. */
export async function definePolicyKinds({ api }: Cluster): Promise<void> {
  await applyAll(api, parseManifests(await readFile(join(foreignCrds, 'network-policy-api.yaml'), 'utf8')))
}

import { KubeOvnError } from '@kube-ovn/errors'
import { nodes, pods, type Resource } from '@kube-ovn/kube'
import { vpcResource } from '@kube-ovn/kube-api'
import type { Command } from 'commander'
import type { ObjectKind } from '../completion/candidates.ts'
import { openCluster, type Context } from '../context.ts'
import { readAll } from '../facts.ts'

const resources: Readonly<Record<ObjectKind, Resource>> = {
  nodes,
  pods,
  vpcs: vpcResource,
}

/** Names of objects; none where the cluster can not be asked: nobody wants errors while he types. */
export async function namesOfObjects(
  context: Context,
  program: Command,
  kind: ObjectKind,
  beginning: string,
): Promise<readonly string[]> {
  try {
    await using cluster = await openCluster(context, program)
    return (await readAll(cluster, resources[kind]))
      .map(({ metadata: { namespace, name } }) => (namespace === undefined ? name : `${namespace}/${name}`))
      .filter((name) => name.startsWith(beginning))
      .toSorted()
  } catch (error) {
    if (error instanceof KubeOvnError) return []
    throw error
  }
}

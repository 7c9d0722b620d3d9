import { allocatedNics, networkOfNic, primaryProvider } from '@kube-ovn/annotations'
import { namespaces, nodes, pods, type KubeObject, type Pod } from '@kube-ovn/kube'
import { isAlive } from '@kube-ovn/kube-api/core'
import {
  parseAdminPolicy,
  parseEgressFirewall,
  parseMultiNetworkPolicy,
  parseNetworkPolicy,
} from '@kube-ovn/policy'
import {
  unmetInAdminPolicy,
  unmetInFirewall,
  unmetInNetworkPolicy,
  type PolicyPod,
  type PolicyWorld,
  type UnmetPart,
} from '@kube-ovn/policy/explain'
import type { Cluster } from '../cluster.ts'
import { readAll } from '../facts.ts'

/** Whether DNS names are followed is the controller's to tell, by an event. */
const names = { followsNames: true }

type Told = (object: KubeObject, world: PolicyWorld) => readonly UnmetPart[]

/** By kinds of objects, each of which can be asked for. */
export const policyKinds: Readonly<Record<string, Told>> = {
  NetworkPolicy: (object, world) =>
    unmetInNetworkPolicy(parseNetworkPolicy(object), namespaceOf(object), world),
  MultiNetworkPolicy: (object, world) =>
    unmetInNetworkPolicy(parseMultiNetworkPolicy(object), namespaceOf(object), world),
  AdminNetworkPolicy: (object, world) => ofAdmin('anp', object, world),
  BaselineAdminNetworkPolicy: (object, world) => ofAdmin('banp', object, world),
  ClusterNetworkPolicy: (object, world) => ofAdmin('cnp', object, world),
  EgressFirewall: (object, world) =>
    unmetInFirewall(parseEgressFirewall(object, names), namespaceOf(object), world),
}

function ofAdmin(kind: 'anp' | 'banp' | 'cnp', object: KubeObject, world: PolicyWorld): readonly UnmetPart[] {
  return unmetInAdminPolicy(parseAdminPolicy(kind, object, names), world)
}

function namespaceOf({ metadata }: KubeObject): string {
  return metadata.namespace ?? ''
}

/** The parts of a policy that do nothing; none of what is no policy. */
export async function policyUnmet(
  cluster: Cluster,
  kind: string,
  object: KubeObject,
): Promise<readonly UnmetPart[]> {
  const told = Object.hasOwn(policyKinds, kind) ? policyKinds[kind] : undefined
  if (told === undefined) return []
  const [namespaceList, podList, nodeList] = await Promise.all([
    readAll(cluster, namespaces),
    readAll(cluster, pods),
    readAll(cluster, nodes),
  ])
  return told(object, {
    namespaces: new Map(namespaceList.map(({ metadata }) => [metadata.name, metadata.labels ?? {}])),
    pods: podList
      .filter(({ spec }) => spec.hostNetwork !== true)
      .filter(isAlive)
      .map(policyPod),
    nodes: nodeList.map(({ metadata }) => metadata.labels ?? {}),
  })
}

function policyPod({ metadata, spec }: Pod): PolicyPod {
  const servers = [
    ...spec.containers,
    ...(spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always'),
  ]
  return {
    ...{ namespace: metadata.namespace ?? '', labels: metadata.labels ?? {} },
    // Of the first network also while it waits for its addresses: it is restricted from its first moment on.
    providers: [
      primaryProvider,
      ...allocatedNics(metadata.annotations).map(({ provider }) => networkOfNic(provider)),
    ],
    ports: servers.flatMap(({ ports = [] }) =>
      ports.flatMap(({ name, protocol = 'TCP' }) =>
        name === undefined ? [] : [{ name, protocol: protocol.toLowerCase() }],
      ),
    ),
  }
}

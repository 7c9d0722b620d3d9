import { isIP } from 'node:net'
import {
  addressesOfPod,
  applyAll,
  askSourceAddress,
  deleteAll,
  idlePod,
  ofStack,
  pingAll,
  placeOf,
  routeBack,
  takeDownPod,
  untilPodsReady,
  withinStack,
  type ApiObject,
  type Cluster,
  type LabNode,
  type PodObject,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { koOf } from './kubectl-ko/run-program.ts'
import { traceTcp, type TraceVerdict } from './kubectl-ko/trace-verdict.ts'

/** A pod of a subnet that leaves by nodes, and nodes that may be its gateways. */
export interface LeavingPod {
  readonly cluster: Cluster
  readonly pod: PodObject
  readonly gateways: readonly [LabNode, LabNode]
  /** Of its Subnet. */
  readonly subnet: string
}

/** Of the outside host, which answers with the address that it sees. */
const outsidePort = 8080
const patience = { timeout: 180_000 }
const vpcPath = '/apis/kubeovn.io/v1/vpcs/ovn-cluster'

/** Compares what `kubectl ko trace` says with what packets do, at each kind of gateway. */
export function gatewayTraces(given: () => LeavingPod): void {
  const targets = (): readonly string[] =>
    ofStack(given().cluster.topology.stack, given().cluster.outside.addresses)

  const trace = (pod: PodObject, target: string): Promise<TraceVerdict> =>
    traceTcp(koOf(given().cluster.kubeconfig), pod, target, outsidePort)

  /** Whose address the outside host is to see, in each family. */
  async function traced(pod: PodObject): Promise<readonly string[]> {
    const verdicts = await Promise.all(targets().map((target) => trace(pod, target)))
    return verdicts.map(({ outcome, wayOut }) =>
      outcome !== 'leaves' || wayOut === undefined
        ? 'nobody'
        : wayOut.source === 'node'
          ? wayOut.node
          : (wayOut.source ?? ''),
    )
  }

  /** Whose it sees. */
  async function probed(pod: PodObject): Promise<readonly string[]> {
    const { cluster } = given()
    const own = addressesOfPod(pod)
    const sources = await Promise.all(
      targets().map((target) => askSourceAddress(placeOf(cluster, pod), target, outsidePort)),
    )
    return sources.map((source) => {
      if (source === undefined) return 'nobody'
      if (own.includes(source)) return 'own'
      const node = cluster.nodes.find(({ kubernetes, physical }) =>
        [kubernetes, physical].some(({ ipv4, ipv6 }) => source === ipv4 || source === ipv6),
      )
      return node?.name ?? source
    })
  }

  /** Waits until packets do this, and expects of a trace that it says so. */
  async function expectWays(pod: PodObject, wanted: readonly string[]): Promise<void> {
    await expect.poll(() => probed(pod), patience).toEqual(wanted)
    await expect.poll(() => traced(pod), patience).toEqual(wanted)
  }

  /** The same in each family of the cluster. */
  async function expectEverywhere(pod: PodObject, wanted: string): Promise<void> {
    await expectWays(
      pod,
      targets().map(() => wanted),
    )
  }

  function edit(spec: object): Promise<unknown> {
    const { cluster, subnet } = given()
    return cluster.api.mergePatch(`/apis/kubeovn.io/v1/subnets/${subnet}`, { spec })
  }

  it('by the node of the pod, and by a gateway of its own', async () => {
    const { pod, gateways } = given()
    const home = pod.spec.nodeName ?? ''
    await expectEverywhere(pod, home)
    const [{ name }] = gateways
    await edit({ gatewayType: 'centralized', gatewayNode: name })
    await expectEverywhere(pod, name)
    await edit({ gatewayType: 'distributed', gatewayNode: null })
    await expectEverywhere(pod, home)
  })

  it('with its own address where there is no NAT', async () => {
    const { cluster, pod } = given()
    await edit({ natOutgoing: false })
    const unrouted = await routeBack(cluster, pod)
    try {
      await expectEverywhere(pod, 'own')
    } finally {
      await unrouted()
      await edit({ natOutgoing: true })
    }
  })

  it('not at all where a routing policy of the VPC drops it, which it names', async () => {
    const { cluster, pod } = given()
    const home = pod.spec.nodeName ?? ''
    const [outside = ''] = targets()
    const match = `ip${isIP(outside)}.dst == ${outside}`
    const policyRoutes = [{ priority: 31_500, match, action: 'drop' }]
    await cluster.api.mergePatch(vpcPath, { spec: { policyRoutes } })
    try {
      // The other family goes on, where there is one.
      await expectWays(
        pod,
        targets().map((_, index) => (index === 0 ? 'nobody' : home)),
      )
      expect(await trace(pod, outside)).toMatchObject({
        ...{ outcome: 'dropped', stage: 'lr_in_policy' },
        by: { table: 'Logical_Router_Policy', owner: 'vpc-policy/ovn-cluster', match },
      })
    } finally {
      await cluster.api.mergePatch(vpcPath, { spec: { policyRoutes: null } })
    }
    await expectEverywhere(pod, home)
  })

  it('not at all from a VPC whose own router has no way out, and to pods of it by that router', async () => {
    const { cluster } = given()
    const name = 'enclosed'
    const subnets = ['a', 'b'].map((part, index) => ({
      ...{ apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name: `${name}-${part}` } },
      spec: { vpc: name, cidrBlock: `10.46.${index}.0/24,fd00:10:46:${index}::/120` },
    }))
    const annotated = (part: string, node: string | undefined): ApiObject =>
      idlePod(
        {
          ...{ name: `${name}-${part}`, namespace: 'default' },
          labels: { app: `${name}-${part}` },
          annotations: { 'ovn.kubernetes.io/logical_switch': `${name}-${part}` },
        },
        node,
      )
    const [first, second] = cluster.nodes
    const objects: readonly ApiObject[] = [
      { apiVersion: 'kubeovn.io/v1', kind: 'Vpc', metadata: { name } },
      ...subnets,
    ]
    await applyAll(cluster.api, [
      ...objects.map((object) => withinStack(object, cluster.topology.stack)),
      annotated('a', first?.name),
      annotated('b', second?.name),
    ])
    const [[from], [to]] = [
      await untilPodsReady(cluster.api, 'default', `app=${name}-a`, 1),
      await untilPodsReady(cluster.api, 'default', `app=${name}-b`, 1),
    ]
    if (from === undefined || to === undefined) return expect.unreachable('both were waited for')
    try {
      await expectEverywhere(from, 'nobody')
      // The router sends it to the gateway of the subnet, which is itself: it asks, and nobody answers.
      for (const target of targets())
        expect(await trace(from, target)).toMatchObject({
          outcome: 'unresolved',
          ports: [`${name}-a.default`],
        })
      for (const address of addressesOfPod(to))
        expect(await trace(from, address)).toMatchObject({
          ...{ outcome: 'delivered', ports: [`${name}-b.default`] },
        })
      await expect
        .poll(async () => (await pingAll(placeOf(cluster, from), addressesOfPod(to))).size, patience)
        .toBe(addressesOfPod(to).length)
    } finally {
      for (const pod of [from, to]) await takeDownPod(cluster.api, pod)
      await deleteAll(cluster.api, objects)
    }
  })
}

import { setTimeout as delay } from 'node:timers/promises'
import {
  applyAll,
  chartNamespace,
  controllerLeader,
  deleteAll,
  lossDuring,
  ofStack,
  placeOf,
  renderLoss,
  takeDownPod,
  untilPodsReady,
  untilRolledOut,
  waitForObjects,
  withinStack,
  type ApiObject,
  type Cluster,
  type PathLoss,
  type PodObject,
  type WatchedPath,
} from '@kube-ovn/lab'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { testEditsUnderTraffic } from './edits-under-traffic.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('enters the namespaces of pods and nodes')

const namespace = 'edited'
const prefix = { ipv4: '10.44.0', ipv6: 'fd00:10:44:' }
const subnetPath = '/apis/kubeovn.io/v1/subnets'

const subnet = {
  apiVersion: 'kubeovn.io/v1',
  kind: 'Subnet',
  metadata: { name: 'edited' },
  spec: {
    cidrBlock: `${prefix.ipv4}.0/24,${prefix.ipv6}:/120`,
    natOutgoing: true,
    namespaces: [namespace],
  },
}

/** One that a kubelet registers with an address of the subnet; nothing is scheduled to it. */
const intruder = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'intruder' } }

interface SubnetObject extends ApiObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

interface Readiness {
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly lastTransitionTime: string
    }[]
  }
}

let cluster: Cluster
let pods: readonly PodObject[]

const lab = useSuiteLab({ id: 'subnet-edits', nodes: 2, stack: 'dual' })

/** Answers its node's probe every second, and is not Ready after one that failed. */
function probed(node: string): ApiObject {
  const page = 'mkdir -p /www && echo ok > /www/index.html && exec busybox httpd -f -p 8080 -h /www'
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `on-${node}`, namespace, labels: { app: 'probed' } },
    spec: {
      terminationGracePeriodSeconds: 0,
      nodeSelector: { 'kubernetes.io/hostname': node },
      containers: [
        {
          name: 'main',
          image: 'docker.io/library/busybox:stable',
          command: ['sh', '-c', page],
          readinessProbe: {
            httpGet: { path: '/', port: 8080 },
            periodSeconds: 1,
            timeoutSeconds: 5,
            failureThreshold: 1,
          },
        },
      ],
    },
  } as ApiObject
}

beforeAll(async () => {
  ;({ cluster } = lab)
  await applyAll(cluster.api, [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    withinStack(subnet, cluster.topology.stack),
  ])
  await untilValidated('True')
  await applyAll(
    cluster.api,
    cluster.nodes.map(({ name }) => probed(name)),
  )
  pods = await untilPodsReady(cluster.api, namespace, 'app=probed', cluster.nodes.length)
})

afterAll(async () => {
  for (const pod of pods) await takeDownPod(cluster.api, pod)
  await deleteAll(cluster.api, [
    intruder,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    subnet,
  ])
})

/** Waits until the controller says of the present specification whether it can be used. */
async function untilValidated(wanted: 'True' | 'False'): Promise<void> {
  await waitForObjects<SubnetObject, true>(
    cluster.api,
    `${subnetPath}?fieldSelector=metadata.name%3Dedited`,
    `the subnet is validated: ${wanted}`,
    ([object]) =>
      object?.status?.conditions?.some(({ type, status }) => type === 'Validated' && status === wanted) ===
      true
        ? true
        : undefined,
  )
}

async function edit(spec: object, wanted: 'True' | 'False'): Promise<void> {
  await cluster.api.mergePatch(`${subnetPath}/edited`, { spec })
  await untilValidated(wanted)
}

/** Kills the controllers and the agents of all nodes, and waits until others work in their place. */
async function restartAll(): Promise<void> {
  const path = `/api/v1/namespaces/${chartNamespace}/pods?labelSelector=`
  for (const labels of ['app=kube-ovn-controller', 'app=kube-ovn-cni']) {
    const before = await cluster.api.list<PodObject>(`${path}${encodeURIComponent(labels)}`)
    for (const { metadata } of before)
      await cluster.api.delete({ apiVersion: 'v1', kind: 'Pod', metadata }, 0)
    const known = new Set(before.map(({ metadata }) => metadata.uid))
    await waitForObjects<PodObject, true>(
      cluster.api,
      `${path}${encodeURIComponent(labels)}`,
      `pods ${labels} are others`,
      (now) => (now.some(({ metadata }) => known.has(metadata.uid)) ? undefined : true),
    )
  }
  await untilRolledOut(cluster.api, 'deployments', chartNamespace, 'kube-ovn-controller')
  await untilRolledOut(cluster.api, 'daemonsets', chartNamespace, 'kube-ovn-cni')
  await controllerLeader(cluster)
}

/** From every node to every pod, and from every pod to the outside, in each family. */
function watchedPaths(): readonly WatchedPath[] {
  const inward = cluster.nodes.flatMap(({ name, place }) =>
    pods.flatMap((pod) =>
      (pod.status?.podIPs ?? []).map(({ ip }) => ({
        name: `${name} to ${pod.metadata.name} ${ip}`,
        from: place,
        address: ip,
      })),
    ),
  )
  const outward = pods.flatMap((pod) =>
    ofStack(cluster.topology.stack, cluster.outside.addresses).map((address) => ({
      name: `${pod.metadata.name} to outside ${address}`,
      from: placeOf(cluster, pod),
      address,
    })),
  )
  return [...inward, ...outward]
}

/** Since when each pod is Ready: a probe that fails moves it. */
async function readySince(): Promise<readonly string[]> {
  const now = await cluster.api.list<ApiObject & Readiness>(`/api/v1/namespaces/${namespace}/pods`)
  return now.map(({ metadata, status }) => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    return `${metadata.name} ${ready?.status} since ${ready?.lastTransitionTime}`
  })
}

/** A machine that is busy loses a packet; who has no route, or no address that the outside knows, loses all of a second. */
function outages(losses: readonly PathLoss[]): readonly string[] {
  return losses
    .filter((loss) => loss.sent < 20 || loss.outages.some(({ packets }) => packets > 3))
    .map((loss) => renderLoss(loss))
}

/** For as long as nodes may take to follow what they are told. */
const followMs = 2_000

describe('a subnet that is in effect', () => {
  it(
    'stays so on every node while it can not be used as edited, over restarts, and when that is put right',
    { timeout: 600_000 },
    async () => {
      const before = await readySince()
      const losses = await lossDuring(watchedPaths(), async () => {
        // Another subnet's gateway, no NAT, a prefix elsewhere: none of it may come into effect.
        const [gateway] = ofStack(cluster.topology.stack, { ipv4: '192.0.2.1', ipv6: '2001:db8::1' })
        await edit({ gateway, natOutgoing: false }, 'False')
        await delay(followMs)
        await restartAll()
        await delay(followMs)
        await edit({ gateway: '', natOutgoing: true }, 'True')
        await delay(followMs)
      })
      expect(outages(losses)).toEqual([])
      expect(await readySince()).toEqual(before)
    },
  )

  it(
    'stays so when a node comes to have an address in it, over restarts, and when that node goes',
    { timeout: 600_000 },
    async () => {
      const before = await readySince()
      const losses = await lossDuring(watchedPaths(), async () => {
        await cluster.api.apply(intruder)
        const own = ofStack(cluster.topology.stack, { ipv4: `${prefix.ipv4}.200`, ipv6: `${prefix.ipv6}:c8` })
        const addresses = own.map((address) => ({ type: 'InternalIP', address }))
        await cluster.api.mergePatch('/api/v1/nodes/intruder/status', { status: { addresses } })
        await untilValidated('False')
        await delay(followMs)
        await restartAll()
        await delay(followMs)
        await cluster.api.delete(intruder)
        await untilValidated('True')
        await delay(followMs)
      })
      expect(outages(losses)).toEqual([])
      expect(await readySince()).toEqual(before)
    },
  )
})

describe('edits of subnets and VPCs, which lose nothing that they do not forbid,', () => {
  testEditsUnderTraffic(lab)
})

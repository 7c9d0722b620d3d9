import { ofStack, type Stack } from '../cluster/topology.ts'
import { LabTimeoutError, ApiError } from '../errors.ts'
import { waitForObjects } from '../kubernetes/wait.ts'
import { addressesOfPod, isPodReady, untilPod, type PodObject } from '../kubernetes/workloads.ts'
import { claimRow, firstOf, happensRow, type Check, type CheckRow } from './check.ts'
import { sixPods } from './pod-to-pod.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ApiClient, ApiObject } from '../kubernetes/client.ts'

/** An object that can not be honoured, and what the message about it must name. */
interface BadInput {
  readonly name: string
  readonly object: ApiObject
  readonly mentions: readonly string[]
}

interface EventObject extends ApiObject {
  readonly involvedObject: { readonly kind: string; readonly name: string }
  readonly type: string
  readonly message?: string
}

interface SubnetObject extends ApiObject {
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly message?: string
    }[]
  }
}

/** Input that can not be honoured is answered in words, disturbs nobody, and is honoured as soon as it can be. */
export const badInput: Check = {
  name: 'bad input',
  async run(cluster) {
    const before = await sixPods(cluster)
    const taken = firstOf(
      before.filter(({ metadata }) => metadata.namespace === 'stock'),
      'pod in subnet stock',
    )
    const inputs = badInputs(taken, cluster.topology.stack)
    const told = []
    for (const input of inputs) told.push(await toldRow(cluster, input))
    const undisturbed = await undisturbedRow(cluster, before)
    const recovered = await recoveryRows(cluster, inputs, taken)
    for (const { object } of inputs) await cluster.api.delete(object, 0)
    return [...told, undisturbed, ...recovered]
  },
}

function badInputs(taken: PodObject, stack: Stack): BadInput[] {
  const [address = ''] = addressesOfPod(taken)
  const [invalid = ''] = ofStack(stack, { ipv4: '10.300.0.0/16', ipv6: 'fd00:10:30000::/112' })
  const [overlap = ''] = ofStack(stack, { ipv4: '10.17.128.0/24', ipv6: 'fd00:10:17::8000/120' })
  const [outside = ''] = ofStack(stack, { ipv4: '192.168.99.9', ipv6: 'fd00:192:168:99::9' })
  return [
    {
      name: 'a Subnet with an invalid CIDR',
      object: subnet('bad-cidr', invalid),
      mentions: ['cidrBlock', invalid],
    },
    {
      name: 'a Subnet that overlaps with another',
      object: subnet('bad-overlap', overlap),
      mentions: ['cidrBlock', overlap, 'shop'],
    },
    {
      name: 'an address outside the subnet',
      object: pod('bad-outside', { 'ovn.kubernetes.io/ip_address': outside }),
      mentions: ['ovn.kubernetes.io/ip_address', outside],
    },
    {
      name: 'an address that is taken',
      object: pod('bad-taken', { 'ovn.kubernetes.io/ip_address': address }),
      mentions: ['ovn.kubernetes.io/ip_address', address],
    },
    {
      name: 'a malformed MAC',
      object: pod('bad-mac', { 'ovn.kubernetes.io/mac_address': '00:00:zz' }),
      mentions: ['ovn.kubernetes.io/mac_address', '00:00:zz'],
    },
  ]
}

function subnet(name: string, cidrBlock: string): ApiObject {
  const object = {
    apiVersion: 'kubeovn.io/v1',
    kind: 'Subnet',
    metadata: { name },
    spec: { cidrBlock },
  }
  return object
}

function pod(name: string, annotations: Record<string, string>): ApiObject {
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'stock', annotations },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'main',
          image: 'docker.io/library/busybox:stable',
          command: ['busybox', 'httpd', '-f', '-p', '8080'],
        },
      ],
    },
  }
  return object
}

/** Creates the object and looks for an answer: refused at once, or a condition or an event. */
async function toldRow(cluster: Cluster, { name, object, mentions }: BadInput): Promise<CheckRow> {
  const expected = `a message with ${mentions.join(', ')}`
  const message = await messageAbout(cluster.api, object, mentions)
  return claimRow(
    name,
    message !== undefined && mentions.every((word) => message.includes(word)),
    expected,
    message ?? 'nothing',
  )
}

async function messageAbout(
  api: ApiClient,
  object: ApiObject,
  mentions: readonly string[],
): Promise<string | undefined> {
  const isTelling = (text: string | undefined): boolean =>
    mentions.every((word) => text?.includes(word) === true)
  try {
    await api.create(object)
    return await (object.kind === 'Subnet'
      ? conditionOf(api, object.metadata.name, isTelling)
      : eventOf(api, object, isTelling))
  } catch (error) {
    if (error instanceof ApiError && [400, 403, 422].includes(error.details.status))
      return error.details.reason
    if (error instanceof LabTimeoutError) return error.details.seen
    throw error
  }
}

function conditionOf(
  api: ApiClient,
  name: string,
  isTelling: (text: string | undefined) => boolean,
): Promise<string> {
  return waitForObjects<SubnetObject, string>(
    api,
    `/apis/kubeovn.io/v1/subnets?fieldSelector=metadata.name%3D${name}`,
    `a condition of Subnet ${name}`,
    ([seen]) => seen?.status?.conditions?.map(({ message }) => message).find(isTelling),
    15_000,
  )
}

function eventOf(
  api: ApiClient,
  object: ApiObject,
  isTelling: (text: string | undefined) => boolean,
): Promise<string> {
  return waitForObjects<EventObject, string>(
    api,
    `/api/v1/namespaces/${object.metadata.namespace ?? 'default'}/events?fieldSelector=involvedObject.name%3D${object.metadata.name}`,
    `an event of ${object.metadata.name}`,
    (events) => events.map(({ message }) => message).find(isTelling),
    15_000,
  )
}

async function undisturbedRow(cluster: Cluster, before: readonly PodObject[]): Promise<CheckRow> {
  const after = await sixPods(cluster)
  const describe = (pods: readonly PodObject[]): string =>
    pods
      .map((pod) => `${pod.metadata.uid ?? ''} ${addressesOfPod(pod).join(',')}`)
      .sort()
      .join('\n')
  return claimRow(
    'nothing else is disturbed',
    describe(before) === describe(after),
    'same pods, all Ready',
    describe(after),
  )
}

/** Removes each cause and waits for the pod, which nobody touches, to start. */
async function recoveryRows(
  cluster: Cluster,
  inputs: readonly BadInput[],
  taken: PodObject,
): Promise<CheckRow[]> {
  const created = inputs
    .filter(({ object }) => object.kind === 'Pod')
    .map(({ object }) => object.metadata.name)
  const correct = (name: string, annotations: Record<string, string>): Promise<unknown> =>
    cluster.api.mergePatch(`/api/v1/namespaces/stock/pods/${name}`, { metadata: { annotations } })
  const starts = (name: string): Promise<unknown> =>
    untilPod(cluster.api, 'stock', name, 'is Ready', (pod) => pod !== undefined && isPodReady(pod), 60_000)
  const causes: readonly (readonly [string, string, () => Promise<unknown>])[] = [
    [
      'bad-outside',
      'starts once its address is corrected',
      () =>
        correct('bad-outside', {
          'ovn.kubernetes.io/ip_address': ofStack(cluster.topology.stack, {
            ipv4: '10.18.0.201',
            ipv6: 'fd00:10:18::201',
          }).join(','),
        }),
    ],
    [
      'bad-taken',
      'starts once the address is free',
      () => cluster.api.delete({ apiVersion: 'v1', kind: 'Pod', metadata: taken.metadata }, 0),
    ],
    [
      'bad-mac',
      'starts once its MAC is corrected',
      () => correct('bad-mac', { 'ovn.kubernetes.io/mac_address': '00:00:00:12:34:56' }),
    ],
  ]
  const rows: CheckRow[] = []
  for (const [name, claim, removeCause] of causes) {
    if (!created.includes(name)) continue
    rows.push(
      await happensRow(`${name} ${claim}`, 'Ready', async () => {
        await removeCause()
        await starts(name)
      }),
    )
  }
  return rows
}

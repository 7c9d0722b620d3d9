import { Informer, KubeConflictError, KubeNotFoundError, nodes, objectKey } from '@kube-ovn/kube'
import type { KubeClient, KubeObject, ObjectRef, Resource, Store } from '@kube-ovn/kube'
import { endpointSlices } from '@kube-ovn/kube-api/core'
import { namespaceAnnotations, nodeAnnotations, podAnnotations } from '@kube-ovn/annotations'
import { silentLogger } from '@kube-ovn/log'
import { sleep, type Clock } from '@kube-ovn/time'
import type { Snapshot } from './dump.ts'
import type { GoldenCase, Manifest, Step } from './golden-case.ts'
import { dumpedResources } from './kubernetes-dump.ts'
import { Observer } from './observer.ts'
import { recordedNode } from './recorded-cluster.ts'
import { StandInKubelet } from './standin-kubelet.ts'

export interface PlayOptions {
  readonly client: KubeClient
  readonly northboundAddress: string
  readonly clock: Clock
  /** How long nothing must have changed before a snapshot is taken. */
  readonly settleMs: number
}

/** What there was after a step. */
export interface PlayedStep {
  readonly step: string
  readonly found: Snapshot
}

/** The answer to a step did not come in time. */
const patienceMs = 120_000

/** Plays a case against a controller that was started on an empty cluster, with the nodes and the kubelet of the recordings. */
export async function* playCase(golden: GoldenCase, options: PlayOptions): AsyncGenerator<PlayedStep> {
  const { client, clock } = options
  await using observer = await Observer.start(client, options.northboundAddress, clock, silentLogger)
  await using kubelet = new StandInKubelet(client, clock, silentLogger)
  const isUp = await until(
    client,
    subnets,
    (store) => (store.get('ovn-default')?.status?.conditions ?? []).length > 0,
    clock,
  )
  if (!isUp)
    throw new Error(
      `there is no Subnet ovn-default after ${patienceMs / 1000} s: look at the controller's log`,
    )
  for (let index = 1; index <= golden.nodes; index++) {
    const node = recordedNode(index, golden.profile)
    await client.create(nodes, node)
    await until(
      client,
      nodes,
      (store) => isAllocated(store.get(node.metadata.name), nodeAnnotations.allocated.key),
      clock,
    )
  }
  await observer.quiet(options.settleMs)
  yield* playSteps(golden, options, observer, () => kubelet.settled())
}

/** Plays a case on a cluster as it is, whoever runs it, and deletes in the end what the case made. */
export async function* playOnCluster(golden: GoldenCase, options: PlayOptions): AsyncGenerator<PlayedStep> {
  const { client, clock } = options
  await using observer = await Observer.start(client, options.northboundAddress, clock, silentLogger)
  try {
    yield* playSteps(golden, options, observer, () => Promise.resolve())
  } finally {
    const made = golden.steps.filter(({ action }) => action === 'apply').flatMap(({ objects }) => objects)
    for (const object of made.toReversed()) await remove(resourceOf(object), object, client, clock)
  }
}

async function* playSteps(
  golden: GoldenCase,
  { client, clock, settleMs }: PlayOptions,
  observer: Observer,
  settled: () => Promise<void>,
): AsyncGenerator<PlayedStep> {
  const manifests = JSON.stringify(golden.steps)
  async function look(step: string): Promise<PlayedStep> {
    await settled()
    await observer.quiet(settleMs)
    return { step, found: await observer.snapshot(manifests) }
  }
  if (golden.hasStart) yield await look('00')
  for (const step of golden.steps) {
    for (const object of step.objects) await play(step, object, client, clock)
    yield await look(step.id)
  }
}

interface Conditioned extends KubeObject {
  readonly status?: { readonly conditions?: readonly unknown[] }
}

const subnets: Resource<Conditioned> = {
  group: 'kubeovn.io',
  version: 'v1',
  kind: 'Subnet',
  plural: 'subnets',
  namespaced: false,
}

interface Addressed extends KubeObject {
  readonly status?: {
    readonly v4ip?: string
    readonly v6ip?: string
    /** As an OvnEip spells them. */
    readonly v4Ip?: string
    readonly v6Ip?: string
  }
}

const vips: Resource<Addressed> = {
  group: 'kubeovn.io',
  version: 'v1',
  kind: 'Vip',
  plural: 'vips',
  namespaced: false,
}

const ovnEips: Resource<Addressed> = { ...vips, kind: 'OvnEip', plural: 'ovn-eips' }

function hasAddress({ status }: Addressed = { metadata: { name: '' } }): boolean {
  return (status?.v4ip ?? status?.v6ip ?? status?.v4Ip ?? status?.v6Ip ?? '') !== ''
}

async function play(step: Step, object: Manifest, client: KubeClient, clock: Clock): Promise<void> {
  const resource = resourceOf(object)
  const ref = refOf(object, resource)
  switch (step.action) {
    case 'delete':
      await remove(resource, object, client, clock)
      return
    case 'patch-status':
      await client.patch(
        resource,
        ref,
        'application/merge-patch+json',
        { status: object.status },
        { subresource: 'status' },
      )
      return
    case 'apply':
      await apply(client, resource, ref, object, clock)
      await processed(object, client, clock)
  }
}

/** Deletes an object, and waits until it is gone. */
async function remove(resource: Resource, object: Manifest, client: KubeClient, clock: Clock): Promise<void> {
  const ref = refOf(object, resource)
  await client.remove(resource, ref).catch((error: unknown) => {
    if (!(error instanceof KubeNotFoundError)) throw error
  })
  await until(client, resource, (store) => store.get(objectKey({ metadata: ref })) === undefined, clock)
}

/** Server-side apply, again while something that it refers to (a namespace's service account) is still being made. */
async function apply(
  client: KubeClient,
  resource: Resource,
  ref: ObjectRef,
  object: Manifest,
  clock: Clock,
): Promise<void> {
  const deadlineMs = clock.monotonic() + patienceMs
  for (;;) {
    try {
      await client.patch(resource, ref, 'application/apply-patch+yaml', object, {
        fieldManager: 'golden',
        force: true,
      })
      return
    } catch (error) {
      const isPassing = error instanceof KubeConflictError || error instanceof KubeNotFoundError
      if (!isPassing || clock.monotonic() > deadlineMs) throw error
      await sleep(clock, 20)
    }
  }
}

/** Waits for what fixes the order of addresses: documents of a file are processed one after the other. */
async function processed(object: Manifest, client: KubeClient, clock: Clock): Promise<void> {
  const { namespace = 'default', name } = object.metadata
  if (object.kind === 'Namespace') {
    const key = namespaceAnnotations.logicalSwitch.key
    await until(
      client,
      resourceOf(object),
      (store) => store.get(name)?.metadata.annotations?.[key] !== undefined,
      clock,
    )
  } else if (object.kind === 'Subnet') {
    await until(client, subnets, (store) => (store.get(name)?.status?.conditions ?? []).length > 0, clock)
  } else if (object.kind === 'Vip') {
    await until(client, vips, (store) => hasAddress(store.get(name)), clock)
  } else if (object.kind === 'OvnEip') {
    await until(client, ovnEips, (store) => hasAddress(store.get(name)), clock)
  } else if (object.kind === 'Pod' && !isHostNetwork(object)) {
    const pods = resourceOf(object)
    await until(
      client,
      pods,
      (store) => isAllocated(store.get(`${namespace}/${name}`), podAnnotations().allocated.key),
      clock,
    )
  }
}

function isHostNetwork(object: Manifest): boolean {
  return 'spec' in object && (object.spec as { readonly hostNetwork?: boolean }).hostNetwork === true
}

function isAllocated(object: KubeObject | undefined, key: string): boolean {
  return object?.metadata.annotations?.[key] === 'true'
}

/**
 * Waits until a condition on the stored objects holds, or patience ends: the comparison tells what is missing then.
 * Answers whether it holds.
 */
async function until<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  holds: (store: Store<T>) => boolean,
  clock: Clock,
): Promise<boolean> {
  await using informer = new Informer({ client, resource, clock, logger: silentLogger })
  const done = Promise.withResolvers<boolean>()
  const look = (): void => {
    if (holds(informer.store)) done.resolve(true)
  }
  informer.onChange(look)
  using _limit = clock.setTimer(patienceMs, () => done.resolve(false))
  informer.start()
  informer.synced.then(look, done.reject)
  return await done.promise
}

/** EndpointSlices are applied and not compared: the controllers of Kubernetes make most of them, under names of their own. */
const appliedResources: readonly Resource[] = [...dumpedResources, endpointSlices]

function resourceOf(object: Manifest): Resource {
  const found = appliedResources.find(
    ({ group, version, kind }) =>
      kind === object.kind && object.apiVersion === (group === '' ? version : `${group}/${version}`),
  )
  if (found === undefined) throw new TypeError(`no resource is known for ${object.apiVersion} ${object.kind}`)
  return found
}

function refOf(object: Manifest, resource: Resource): ObjectRef {
  const { name, namespace = 'default' } = object.metadata
  return resource.namespaced ? { name, namespace } : { name }
}

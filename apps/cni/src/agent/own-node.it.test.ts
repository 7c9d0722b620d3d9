import { nodeAnnotations, sharedGatewayLabel } from '@kube-ovn/annotations'
import { NextHopUnreachableError } from '@kube-ovn/fragments'
import {
  EventRecorder,
  IndexedStore,
  KubeDeniedError,
  nodes,
  pods,
  type KubeClient,
  type Node,
  type Pod,
} from '@kube-ovn/kube'
import type { Subnet } from '@kube-ovn/kube-api'
import { events, type CoreEvent } from '@kube-ovn/kube-api/core'
import { recordingLogger, silentLogger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import { node, pod } from '@kube-ovn/testing-builders'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { createRefusalReporter } from './reporter.ts'

/* Who has the token of one agent: the chart's policies hold it to the Node of the agent's pod. */

const account = 'kube-system/kube-ovn-cni'
const chassis = nodeAnnotations.chassis.key
const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'up' } as const
const unavailable = { type: 'NetworkUnavailable', status: 'True', reason: 'Test', message: 'down' } as const

let api: KubeApi
/** With the token of the agent on node-1. */
let agent: KubeClient
/** With a token that is bound to no pod. */
let homeless: KubeClient

beforeAll(async () => {
  api = await sharedKubeApi()
  const status = { addresses: [{ type: 'InternalIP', address: '172.18.0.2' }], conditions: [ready] }
  for (const name of ['node-1', 'node-2']) {
    const own = node({ name, annotations: { 'example.com/mine': 'yes' }, labels: { zone: 'a' } })
    await api.client.create(nodes, own)
    await write(api.client, name, { status }, 'status')
  }
  const home = pod({ name: 'agent-1', namespace: 'kube-system', node: 'node-1' })
  await api.client.create(pods, { ...home, spec: { ...home.spec, serviceAccountName: 'kube-ovn-cni' } })
  agent = await api.openClient('agent', account, 'agent-1')
  homeless = await api.openClient('agent', account)
  // The API server goes by a policy a moment after it was told.
  await vi.waitUntil(() => isRefused(write(agent, 'node-2', {})), { timeout: 60_000 })
})

function write(client: KubeClient, name: string, patch: object, subresource?: 'status'): Promise<unknown> {
  const options = subresource === undefined ? {} : { subresource }
  return client.patch(nodes, { name }, 'application/strategic-merge-patch+json', patch, options)
}

async function isRefused(request: Promise<unknown>): Promise<boolean> {
  try {
    await request
    return false
  } catch (error) {
    if (error instanceof KubeDeniedError) return true
    throw error
  }
}

describe('the token of an agent', () => {
  it('writes the chassis and the condition of its own node', async () => {
    await write(agent, 'node-1', { metadata: { annotations: { [chassis]: 'c-1' } } })
    await write(agent, 'node-1', { metadata: { annotations: { [chassis]: 'c-2' } } })
    await write(agent, 'node-1', { status: { conditions: [unavailable] } }, 'status')
    await write(agent, 'node-1', { status: { conditions: [{ ...unavailable, status: 'False' }] } }, 'status')
    const own = await api.client.get(nodes, { name: 'node-1' })
    expect(own?.metadata.annotations).toEqual({ 'example.com/mine': 'yes', [chassis]: 'c-2' })
    expect(own?.status?.conditions).toEqual(
      expect.arrayContaining([
        expect.objectContaining(ready),
        expect.objectContaining({ ...unavailable, status: 'False' }),
      ]),
    )
  })

  it('says by labels and an annotation of its own node to what that is connected', async () => {
    const [ready, problem] = ['ready', 'err_mesg'].map(
      (name) => `quay.provider-network.kubernetes.io/${name}`,
    )
    if (ready === undefined || problem === undefined) return
    const say = (isReady: string | null, text: string | null): Promise<unknown> =>
      write(agent, 'node-1', { metadata: { labels: { [ready]: isReady }, annotations: { [problem]: text } } })
    await say('true', null)
    expect((await api.client.get(nodes, { name: 'node-1' }))?.metadata.labels).toMatchObject({
      ...{ zone: 'a', [ready]: 'true' },
    })
    await say(null, 'no eth1')
    await say(null, null)
    const { labels, annotations: told } = (await api.client.get(nodes, { name: 'node-1' }))?.metadata ?? {}
    expect([Object.keys(labels ?? {}), Object.keys(told ?? {})].flat()).not.toContain(ready)
    expect(Object.keys(told ?? {})).not.toContain(problem)
    await expect(write(agent, 'node-2', { metadata: { labels: { [ready]: 'true' } } })).rejects.toThrow(
      KubeDeniedError,
    )
  })

  it('says by a label of its own node whether that forwards for VPCs', async () => {
    for (const forwards of ['true', 'false', null]) {
      await write(agent, 'node-1', { metadata: { labels: { [sharedGatewayLabel]: forwards } } })
      const own = await api.client.get(nodes, { name: 'node-1' })
      expect(own?.metadata.labels?.[sharedGatewayLabel] ?? null).toBe(forwards)
    }
    await expect(
      write(agent, 'node-2', { metadata: { labels: { [sharedGatewayLabel]: 'true' } } }),
    ).rejects.toThrow(KubeDeniedError)
  })

  const annotations = { [chassis]: 'stolen' }
  it.each([
    { what: 'its chassis', patch: { metadata: { annotations } } },
    {
      what: 'its condition',
      patch: { status: { conditions: [unavailable] } },
      subresource: 'status' as const,
    },
    { what: 'nothing', patch: {} },
  ])('writes no other node: $what', async ({ patch, subresource }) => {
    await expect(write(agent, 'node-2', patch, subresource)).rejects.toMatchObject({
      details: { answer: expect.stringContaining('the agent of node node-1 may not write node node-2') },
    })
    await expect(write(homeless, 'node-1', patch, subresource)).rejects.toMatchObject({
      details: { answer: expect.stringContaining('the agent of no node may not write node node-1') },
    })
  })

  const conditions = [{ ...ready, status: 'False' }]
  const taints = [{ key: 'example.com/drained', effect: 'NoExecute' }]
  const addresses = [{ type: 'InternalIP', address: '172.18.0.9' }]
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'node-2', uid: 'u' }]
  it.each([
    { what: 'labels', patch: { metadata: { labels: { zone: 'b' } } } },
    { what: 'new labels', patch: { metadata: { labels: { 'kube-ovn/role': 'master' } } } },
    { what: 'annotations of others', patch: { metadata: { annotations: { 'example.com/mine': 'no' } } } },
    {
      what: 'new annotations',
      patch: { metadata: { annotations: { [nodeAnnotations.ipAddress.key]: '1' } } },
    },
    { what: 'annotations by deletion', patch: { metadata: { annotations: { 'example.com/mine': null } } } },
    { what: 'its chassis by deletion', patch: { metadata: { annotations: { [chassis]: null } } } },
    { what: 'finalizers', patch: { metadata: { finalizers: ['example.com/kept'] } } },
    { what: 'owners', patch: { metadata: { ownerReferences } } },
    { what: 'taints', patch: { spec: { taints } } },
    { what: 'whether pods are placed on it', patch: { spec: { unschedulable: true } } },
    { what: 'labels by way of the status', patch: { metadata: { labels: { zone: 'b' } } }, isStatus: true },
    {
      what: 'annotations by way of the status',
      patch: { metadata: { annotations: { a: 'b' } } },
      isStatus: true,
    },
    { what: 'addresses', patch: { status: { addresses } }, isStatus: true },
    { what: 'capacity', patch: { status: { capacity: { cpu: '1' } } }, isStatus: true },
    { what: 'conditions of others', patch: { status: { conditions } }, isStatus: true },
    {
      what: 'other conditions',
      patch: { status: { conditions: [{ ...ready, type: 'X' }] } },
      isStatus: true,
    },
  ])('leaves of its own node as they are: $what', async ({ patch, isStatus = false }) => {
    await write(agent, 'node-1', { metadata: { annotations: { [chassis]: 'c-3' } } })
    const before = await api.client.get(nodes, { name: 'node-1' })
    await expect(write(agent, 'node-1', patch, isStatus ? 'status' : undefined)).rejects.toThrow(
      KubeDeniedError,
    )
    expect(await api.client.get(nodes, { name: 'node-1' })).toEqual(before)
  })

  it('tells events of pods as its node alone', async () => {
    const logger = silentLogger
    const told = { client: agent, clock: systemClock, logger, component: 'kube-ovn-cni' }
    await using own = new EventRecorder({ ...told, instance: 'node-1' })
    const regarding = { resource: pods, namespace: 'kube-system', name: 'agent-1', uid: 'u' }
    own.record({ regarding, type: 'Normal', reason: 'Told', message: 'of a pod' })
    await own.flushed()
    const [event] = await eventsOf('agent-1')
    expect(event).toMatchObject({ reason: 'Told', reportingInstance: 'node-1' })
    if (event === undefined) return
    const { name = '' } = event.metadata
    const ref = { namespace: 'kube-system', name }
    const repeat = (patch: object): Promise<unknown> =>
      agent.patch(events, ref, 'application/merge-patch+json', patch)
    await repeat({ count: 2 })
    await expect(repeat({ reportingInstance: 'node-2' })).rejects.toThrow(KubeDeniedError)
    const tell = (differs: Partial<CoreEvent>): Promise<unknown> =>
      agent.create(events, { ...event, metadata: { namespace: 'kube-system', name: 'forged' }, ...differs })
    await expect(tell({ reportingInstance: 'node-2' })).rejects.toThrow(KubeDeniedError)
    await expect(tell({ reportingComponent: 'kubelet' })).rejects.toThrow(KubeDeniedError)
    await expect(tell({ source: { component: 'kubelet', host: 'node-1' } })).rejects.toThrow(KubeDeniedError)
    const involvedObject = { kind: 'Secret', namespace: 'kube-system', name: 'any' }
    await expect(tell({ involvedObject })).rejects.toThrow(KubeDeniedError)
    await api.client.patch(events, ref, 'application/merge-patch+json', { reportingInstance: 'node-2' })
    await expect(repeat({ count: 3 })).rejects.toThrow(KubeDeniedError)
  })

  it('tells what its own node can not have, and nothing of another', async () => {
    const log = recordingLogger()
    const told = { client: agent, clock: systemClock, logger: log, component: 'kube-ovn-cni' }
    await using own = new EventRecorder({ ...told, instance: 'node-1' })
    for (const name of ['node-1', 'node-2']) {
      const { metadata } = (await api.client.get(nodes, { name })) ?? expect.unreachable('it was made')
      const store = new IndexedStore<Node>()
      store.put(name, { metadata })
      createRefusalReporter(
        own,
        { nodes: store, pods: new IndexedStore<Pod>(), subnets: new IndexedStore<Subnet>() },
        name,
      )('tunnels', new TypeError('no such interface'))
    }
    await own.flushed()
    expect(await eventsOf('node-1')).toMatchObject([
      { reason: 'NodeNetworkConfigureFailed', message: 'tunnels: no such interface' },
    ])
    expect(await eventsOf('node-2')).toEqual([])
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { err: expect.any(KubeDeniedError) } }])
  })
})

it('an agent tells of a Subnet whose gateway its node does not reach', async () => {
  const told = { client: agent, clock: systemClock, logger: silentLogger, component: 'kube-ovn-cni' }
  await using own = new EventRecorder({ ...told, instance: 'node-1' })
  const subnets = new IndexedStore<Subnet>()
  subnets.put('strait', { metadata: { name: 'strait', uid: 'uid-3' } })
  const stray = { field: 'spec.externalEgressGateway', value: '192.0.2.9', cure: 'name another one' }
  createRefusalReporter(
    own,
    { nodes: new IndexedStore<Node>(), pods: new IndexedStore<Pod>(), subnets },
    'node-1',
  )('egress-routes', new NextHopUnreachableError({ subnet: 'strait', ...stray }))
  await own.flushed()
  expect(await eventsOf('strait')).toMatchObject([
    {
      involvedObject: { kind: 'Subnet', uid: 'uid-3' },
      ...{ type: 'Warning', reason: 'NextHopUnreachable', reportingInstance: 'node-1' },
      message:
        'node is no neighbour of the next hop (field=spec.externalEgressGateway subnet=strait value=192.0.2.9); name another one node=node-1',
    },
  ])
})

async function eventsOf(name: string): Promise<readonly CoreEvent[]> {
  const { items } = await api.client.list(events)
  return items.filter(({ involvedObject }) => involvedObject.name === name)
}

it('nobody else is held to what an agent may write', async () => {
  const other = await api.openClient('controller', 'kube-system/ovn')
  await write(other, 'node-1', { metadata: { labels: { zone: 'c' } } })
  await write(api.client, 'node-2', { status: { addresses: [] } }, 'status')
  expect((await api.client.get(nodes, { name: 'node-1' }))?.metadata.labels).toMatchObject({ zone: 'c' })
})

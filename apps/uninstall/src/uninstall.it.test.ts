import { namespaces, pods, type KubeClient, type KubeObject, type Resource } from '@kube-ovn/kube'
import {
  ipPoolResource,
  ipResource,
  providerNetworkResource,
  subnetResource,
  vipResource,
  vpcResource,
} from '@kube-ovn/kube-api'
import { recordingLogger, silentLogger } from '@kube-ovn/log'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { removeFinalizers } from './finalizers.ts'
import { untilControllerGone, untilNodesClean } from './workloads.ts'

let api: KubeApi
/** With the rights that the chart gives the hook. */
let hook: KubeClient

beforeAll(async () => {
  api = await sharedKubeApi()
  hook = await api.openClient('kube-ovn-uninstall', 'kube-system/kube-ovn-post-delete-hook')
})
afterEach(() => api.reset())

it('takes our finalizers, old and new, off all kinds and leaves those of others', async () => {
  const { client } = api
  const current = 'kubeovn.io/kube-ovn-controller'
  await client.create(subnetResource, { metadata: { name: 'a', finalizers: [current, 'example.com/keep'] } })
  await client.create(vpcResource, { metadata: { name: 'b', finalizers: ['kube-ovn-controller'] } })
  await client.create(ipResource, { metadata: { name: 'c' } })
  await client.create(vipResource, { metadata: { name: 'd', finalizers: [current] } })
  const pool = { subnet: 'a', ips: ['10.16.0.10'] }
  await client.create(ipPoolResource, { metadata: { name: 'e', finalizers: [current] }, spec: pool })

  expect(await removeFinalizers(hook)).toEqual([
    { kind: 'DNSNameResolver', count: 0 },
    { kind: 'IP', count: 0 },
    { kind: 'IPPool', count: 1 },
    { kind: 'OvnEip', count: 0 },
    { kind: 'SecurityGroup', count: 0 },
    { kind: 'ProviderNetwork', count: 0 },
    { kind: 'RouterLBRule', count: 0 },
    { kind: 'Subnet', count: 1 },
    { kind: 'SwitchLBRule', count: 0 },
    { kind: 'Vip', count: 1 },
    { kind: 'Vlan', count: 0 },
    { kind: 'Vpc', count: 1 },
    { kind: 'VpcDns', count: 0 },
  ])

  expect((await client.get(subnetResource, { name: 'a' }))?.metadata.finalizers).toEqual(['example.com/keep'])
  expect((await client.get(vpcResource, { name: 'b' }))?.metadata.finalizers).toBeUndefined()
  expect((await client.get(vipResource, { name: 'd' }))?.metadata.finalizers).toBeUndefined()
  expect((await client.get(ipPoolResource, { name: 'e' }))?.metadata.finalizers).toBeUndefined()
})

it.each<Resource>([subnetResource, providerNetworkResource])(
  'lets go a $kind that is being deleted',
  async (resource) => {
    const { client } = api
    await client.create(resource, {
      metadata: { name: 'a', finalizers: ['kubeovn.io/kube-ovn-controller'] },
    })
    await client.remove(resource, { name: 'a' })
    await removeFinalizers(hook)
    expect(await client.get(resource, { name: 'a' })).toBeUndefined()
  },
)

it('waits for the last pod of the controller', async () => {
  const { client } = api
  const ref = { namespace: 'kube-system', name: 'controller' }
  await client.create(pods, {
    metadata: { ...ref, labels: { app: 'kube-ovn-controller' } },
    spec: { containers: [{ name: 'c', image: 'c' }] },
  })
  let isGone = false
  const deadline = AbortSignal.timeout(120_000)
  const gone = untilControllerGone(hook, silentLogger, 'kube-system', deadline).then(() => (isGone = true))
  await client.get(namespaces, { name: 'kube-system' })
  expect(isGone).toBe(false)
  await client.remove(pods, ref, { gracePeriodSeconds: 0 })
  await gone
})

it('waits on when the API server cannot be reached for a while', async () => {
  const { client, proxy } = await api.openProxiedClient()
  const logger = recordingLogger()
  proxy.refuse(true)
  const gone = untilControllerGone(client, logger, 'kube-system', AbortSignal.timeout(120_000))
  await expect.poll(() => logger.lines.map(({ message }) => message)).toContain('watch interrupted')
  proxy.refuse(false)
  expect(await gone).toBe(true)
})

it('waits until the clean-up is ready on all nodes, but not for ever', async () => {
  const { client } = api
  const ref = { namespace: 'kube-system', name: 'cleanup' }
  const labels = { app: 'cleanup' }
  const daemonSets: Resource = {
    group: 'apps',
    version: 'v1',
    kind: 'DaemonSet',
    plural: 'daemonsets',
    namespaced: true,
  }
  const daemonSet: KubeObject & { spec: object } = {
    metadata: ref,
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'c' }] } },
    },
  }
  await client.create(daemonSets, daemonSet)
  expect(await untilNodesClean(hook, silentLogger, ref, AbortSignal.timeout(200))).toBe(false)

  const clean = untilNodesClean(hook, silentLogger, ref, AbortSignal.timeout(120_000))
  const status = {
    currentNumberScheduled: 2,
    numberMisscheduled: 0,
    desiredNumberScheduled: 2,
    numberReady: 2,
  }
  const options = { subresource: 'status' }
  await client.patch(daemonSets, ref, 'application/merge-patch+json', { status }, options)
  expect(await clean).toBe(true)
})

import { deployments, dropManagedFields, Informer } from '@kube-ovn/kube'
import type { KubeObject } from '@kube-ovn/kube'
import { silentLogger } from '@kube-ovn/log'
import { systemClock } from '@kube-ovn/process'
import { kernelMetrics, Registry } from '@kube-ovn/telemetry'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { keepApplied, type Configuration } from './applied.ts'
import { TrimmedFieldError } from './errors.ts'
import type { KubePatch } from './feature.ts'
import { kubeObjects } from './kube-objects.ts'
import { PatchSender } from './patches.ts'

let api: KubeApi
beforeAll(async () => {
  api = await sharedKubeApi()
})
beforeEach(() => api.reset())

const name = { namespace: 'default', name: 'dns' }
const key = 'default/dns'

interface Deployment extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly template: { readonly spec: PodSpec } }
}
interface PodSpec {
  readonly containers: readonly Readonly<Record<string, unknown>>[]
  readonly nodeSelector?: Readonly<Record<string, string>>
}

/** With all that the server writes otherwise, or adds to: quantities, ports, probes, volumes, tolerations, what is empty. */
function configuration({
  image = 'coredns:1',
  args = ['-conf', '/etc/coredns/Corefile'],
} = {}): Configuration {
  const labels = { app: 'dns' }
  return {
    metadata: { ...name, labels, annotations: {} },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      strategy: { type: 'RollingUpdate' },
      template: {
        metadata: { labels, annotations: { note: 'x' } },
        spec: {
          containers: [
            {
              ...{ name: 'coredns', image, args, env: [], securityContext: {} },
              resources: { limits: { memory: '1024Mi' }, requests: { cpu: '1000m', memory: '70Mi' } },
              ports: [
                { name: 'dns', containerPort: 53, protocol: 'UDP' },
                { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
                { name: 'metrics', containerPort: 9153 },
              ],
              livenessProbe: { httpGet: { path: '/health', port: 8080 } },
              volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
              lifecycle: undefined,
            },
          ],
          volumes: [
            { name: 'config', configMap: { name: 'dns', items: [{ key: 'Corefile', path: 'Corefile' }] } },
            { name: 'scratch', emptyDir: {} },
          ],
          tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }],
          nodeSelector: { 'kubernetes.io/os': 'linux' },
        },
      },
    },
  }
}

async function start(trim: (object: KubeObject) => KubeObject = keepApplied) {
  const stack = new AsyncDisposableStack()
  const client = stack.use(await api.openClient('kube-ovn-controller'))
  const informer = stack.use(
    new Informer<KubeObject>({
      ...{ client, resource: deployments, trim },
      ...{ clock: systemClock, logger: silentLogger },
    }),
  )
  informer.start()
  await informer.synced
  const sender = new PatchSender({
    objects: kubeObjects({ client, informers: [informer], record: () => undefined }),
    metrics: kernelMetrics(new Registry()),
    ...{ clock: systemClock, concurrency: 4 },
  })
  const send = (patch: Partial<KubePatch>) =>
    sender.send('test/dns', 'test', [
      { resource: deployments, ...name, ...patch, basis: informer.store.get(key) },
    ])
  return {
    store: informer.store,
    apply: (wanted: Configuration) => send({ apply: wanted }),
    send,
    /** Waits until the store shows the object as a user left it. */
    sees: async (object: KubeObject) => {
      await expect
        .poll(() => informer.store.get(key)?.metadata.resourceVersion)
        .toBe(object.metadata.resourceVersion)
    },
    writes: async () => (await api.writes()).map(({ verb }) => verb),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

type Started = Awaited<ReturnType<typeof start>>

async function edit(process: Started, patch: unknown, type = 'merge' as 'merge' | 'strategic-merge') {
  await process.sees(
    await api.client.patch(deployments, name, `application/${type}-patch+json`, patch, {
      fieldManager: 'kubectl-edit',
    }),
  )
  await api.forgetWrites()
}

const read = async () => (await api.client.get(deployments, name)) as Deployment | undefined
const containerOf = (object: Deployment | undefined) => object?.spec.template.spec.containers[0]
const toContainer = (fields: Readonly<Record<string, unknown>>) => ({
  spec: { template: { spec: { containers: [{ name: 'coredns', ...fields }] } } },
})

it('writes once, whatever the server makes of it, and not again after a restart', async () => {
  {
    await using process = await start()
    expect(await process.apply(configuration())).toBe('done')
    await process.apply(configuration())
    // The order of fields says nothing.
    const { spec, metadata } = configuration()
    await process.apply({ spec: { ...spec }, metadata: { annotations: {}, ...metadata } })
  }
  await using restarted = await start()
  await restarted.apply(configuration())
  expect(await restarted.writes()).toEqual(['patch'])
  expect(containerOf(await read())).toMatchObject({
    ports: [{}, {}, { containerPort: 9153, protocol: 'TCP' }],
    terminationMessagePath: '/dev/termination-log',
    resources: { limits: { memory: '1Gi' }, requests: { cpu: '1' } },
  })
})

it('changes what it says otherwise, and takes out what it says no more', async () => {
  await using process = await start()
  await process.apply(configuration())
  await process.apply(configuration({ image: 'coredns:2', args: [] }))
  await process.apply(configuration({ image: 'coredns:2', args: [] }))
  expect(containerOf(await read())).toMatchObject({ image: 'coredns:2' })
  expect(containerOf(await read())).not.toHaveProperty('args')
  const { metadata, spec } = configuration({ image: 'coredns:2', args: [] })
  const { replicas: _, ...without } = spec as { replicas: number }
  const { labels: __, ...unlabelled } = metadata
  await process.apply({ metadata: unlabelled, spec: without })
  expect((await read())?.metadata.labels).toBeUndefined()
  expect((await read())?.spec.replicas).toBe(1)
  expect(await process.writes()).toEqual(['patch', 'patch', 'patch'])
})

it('leaves alone what a user adds beside it', async () => {
  await using process = await start()
  await process.apply(configuration())
  await edit(
    process,
    {
      metadata: { labels: { team: 'net' }, annotations: { note: 'ours' } },
      ...toContainer({ env: [{ name: 'GOMAXPROCS', value: '2' }], imagePullPolicy: 'Always' }),
    },
    'strategic-merge',
  )
  await process.apply(configuration())
  expect(await process.writes()).toEqual([])
  await process.apply(configuration({ image: 'coredns:2' }))
  expect(containerOf(await read())).toMatchObject({
    image: 'coredns:2',
    imagePullPolicy: 'Always',
    env: [{ name: 'GOMAXPROCS', value: '2' }],
  })
  expect((await read())?.metadata).toMatchObject({
    labels: { app: 'dns', team: 'net' },
    annotations: { note: 'ours' },
  })
})

it.each<[string, unknown]>([
  ['a scalar', { spec: { replicas: 5 } }],
  ['a field of a container', toContainer({ image: 'evil:1' })],
  ['a quantity', toContainer({ resources: { requests: { cpu: '2' } } })],
  ['the elements of a list', toContainer({ args: ['-dns.port', '54'] })],
  ['a port', toContainer({ ports: [{ containerPort: 53, protocol: 'UDP', name: 'other' }] })],
  ['an element that is gone', toContainer({ ports: [{ containerPort: 9153, $patch: 'delete' }] })],
  [
    'a container in place of ours',
    {
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'coredns', $patch: 'delete' },
              { name: 'x', image: 'x' },
            ],
          },
        },
      },
    },
  ],
  ['a label that is gone', { metadata: { labels: { app: null } } }],
  ['an entry of a map', { spec: { template: { spec: { nodeSelector: { 'kubernetes.io/os': null } } } } }],
  ['the digest', { metadata: { annotations: { 'ovn.kubernetes.io/applied': 'x' } } }],
])('puts back %s', async (_title, change) => {
  await using process = await start()
  await process.apply(configuration())
  const before = await read()
  await edit(process, change, 'strategic-merge')
  await process.apply(configuration())
  await process.apply(configuration())
  expect(await process.writes()).toEqual(['patch'])
  const { spec, metadata } = (await read()) as Deployment
  expect({ spec: withoutStrays(spec), labels: metadata.labels, annotations: metadata.annotations }).toEqual({
    ...{ spec: before?.spec, labels: before?.metadata.labels },
    annotations: before?.metadata.annotations,
  })
})

/** A container that a user added is a field of that user's, and stays. */
function withoutStrays(spec: Deployment['spec']): Deployment['spec'] {
  const { template } = spec
  const containers = template.spec.containers.filter((container) => container['name'] === 'coredns')
  return { ...spec, template: { ...template, spec: { ...template.spec, containers } } }
}

it('applies anew when its fields are nobody’s any more', async () => {
  await using process = await start()
  await process.apply(configuration())
  await edit(process, { metadata: { managedFields: [{}] } })
  await process.apply(configuration())
  await process.apply(configuration())
  expect(await process.writes()).toEqual(['patch'])
})

it('takes over an object that was there before', async () => {
  await using process = await start()
  const { metadata, spec } = configuration({ image: 'old:1' })
  await process.sees(
    await api.client.create(deployments, { metadata, spec: { ...spec, paused: true } } as KubeObject),
  )
  await api.forgetWrites()
  await process.apply(configuration())
  expect(containerOf(await read())).toMatchObject({ image: 'coredns:1' })
  expect((await read())?.spec).toMatchObject({ paused: true })
  await process.apply(configuration())
  expect(await process.writes()).toEqual(['patch'])
})

it('writes beside others that write at the same time', async () => {
  await using process = await start()
  await process.apply(configuration())
  await Promise.all([
    ...['a', 'b', 'c'].map((label) =>
      api.client.patch(deployments, name, 'application/merge-patch+json', {
        metadata: { labels: { [label]: '1' } },
      }),
    ),
    process.apply(configuration({ image: 'coredns:2' })),
  ])
  await expect.poll(() => process.apply(configuration({ image: 'coredns:2' }))).toBe('done')
  expect(containerOf(await read())).toMatchObject({ image: 'coredns:2' })
  expect((await read())?.metadata.labels).toEqual({ app: 'dns', a: '1', b: '1', c: '1' })
})

it('deletes, and makes anew only what is gone', async () => {
  await using process = await start()
  const { metadata, ...rest } = configuration()
  const held = { ...rest, metadata: { ...metadata, finalizers: ['example.com/hold'] } }
  await process.apply(held)
  await process.send({ remove: true })
  await process.apply(held)
  expect(await process.writes()).toEqual(['patch', 'delete'])
  const { uid } = (await read())?.metadata ?? {}
  await api.client.patch(deployments, name, 'application/merge-patch+json', {
    metadata: { finalizers: null },
  })
  await expect.poll(() => process.store.get(key)).toBeUndefined()
  await process.apply(configuration())
  expect((await read())?.metadata.uid).not.toBe(uid)
})

it('has a watch that leaves out our fields for a defect', async () => {
  await using process = await start(dropManagedFields)
  await process.apply(configuration())
  await expect(process.apply(configuration())).rejects.toThrow(TrimmedFieldError)
  await expect(process.apply(configuration())).rejects.toMatchObject({
    details: { resource: 'deployments.apps', field: 'metadata.managedFields' },
  })
  expect(await process.writes()).toEqual(['patch'])
})

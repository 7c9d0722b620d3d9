import { nodes, pods, type KubeObject, type Pod, type Resource } from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { runCaptured, type Captured } from './run-captured.ts'

interface Binding extends KubeObject {
  readonly roleRef: object
  readonly subjects: readonly object[]
}

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false }
const clusterRoleBindings: Resource<Binding> = {
  ...rbac,
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
}

let api: KubeApi

beforeAll(async () => {
  api = await sharedKubeApi()
})
afterEach(() => api.reset())

function ko(...args: readonly string[]): Promise<Captured> {
  return runCaptured(['--kubeconfig', api.kubeconfigPath, ...args])
}

async function createPod(name: string, app: string, node: string): Promise<void> {
  const ref = { namespace: 'kube-system', name }
  const spec: Pod['spec'] = { nodeName: node, containers: [{ name: 'ovn-central', image: 'i' }] }
  await api.client.create(pods, { metadata: { ...ref, labels: { app } }, spec })
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
  await api.client.patch(pods, ref, 'application/merge-patch+json', { status }, { subresource: 'status' })
}

it('says that a leader is missing, and where to look', async () => {
  const { exitCode, stderr } = await ko('nbctl', 'show')
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^kubectl-ko: leader not exists \(field=nb\); see who is ready.*\n$/)
})

it('says that a cluster has no interconnection', async () => {
  const { exitCode, stderr } = await ko('icnbctl', 'show')
  expect(exitCode).toBe(1)
  expect(stderr).toContain('none has a pod labelled ovn-ic-nb-leader=true here')
})

it('names a node that is not there, and one on which Open vSwitch does not run', async () => {
  expect(await ko('vsctl', 'elsewhere', 'show')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('value=elsewhere'),
  })
  await api.client.create(nodes, { metadata: { name: 'here' } })
  expect(await ko('vsctl', 'here', 'show')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('no pod of the component can be asked (field=ovs value=here)'),
  })
})

it('says why a command can not be run on a node whose kubelet is not there', async () => {
  await api.client.create(nodes, { metadata: { name: 'here' } })
  await createPod('ovn-central-0', 'ovn-central', 'here')
  const { exitCode, stderr } = await ko('nbctl', 'show')
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^kubectl-ko: .*see whether the node and its kubelet can be reached/)
})

it('says what it may not do', async () => {
  const { exitCode, stderr } = await ko('--as', 'nobody', 'nbctl', 'show')
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/User "nobody" cannot list resource "pods".*ask for the ClusterRole/)
})

it('says that the cluster can not be reached', async () => {
  const { exitCode, stderr } = await ko('--context', 'elsewhere', 'nbctl', 'show')
  expect(exitCode).toBe(1)
  expect(stderr).toContain('elsewhere')
})

it('tells the state, addresses and what a pod lacks to somebody who may only read, and no more', async () => {
  const subject = { kind: 'User', name: 'reader', apiGroup: 'rbac.authorization.k8s.io' }
  const roleRef = { kind: 'ClusterRole', name: 'kube-ovn-ko-reader', apiGroup: 'rbac.authorization.k8s.io' }
  await api.client.create(clusterRoleBindings, { metadata: { name: 'reader' }, roleRef, subjects: [subject] })
  const reader = ['--as', 'reader']
  await expect.poll(async () => (await ko(...reader, 'ipam', 'verify')).stdout).toContain('no contradiction')

  await api.client.create(subnetResource, {
    metadata: { name: 'blue' },
    spec: { cidrBlock: '10.70.0.0/24', gateway: '10.70.0.1' },
  })
  const status = await ko(...reader, 'status', '-o', 'json')
  expect(status).toMatchObject({ exitCode: 1, stderr: '' })
  expect(JSON.parse(status.stdout)).toMatchObject({
    isHealthy: false,
    subnets: [{ name: 'blue', cidr: '10.70.0.0/24' }],
    problems: expect.arrayContaining([expect.objectContaining({ object: 'ovn-central' })]),
  })
  expect((await ko(...reader, 'status')).stdout).toMatch(/^PROBLEM +WHAT +WHAT TO DO$/m)
  expect(await ko(...reader, 'ipam', 'who', '10.70.0.1')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('gateway'),
  })
  expect(await ko(...reader, 'ipam', 'who', '10.70.0.9')).toMatchObject({
    exitCode: 1,
    stdout: 'nobody has 10.70.0.9; it is in the range of blue\n',
  })

  await createPod('web', 'shop', 'here')
  const why = await ko(...reader, 'why', '-n', 'kube-system', 'web')
  expect(why).toMatchObject({ exitCode: 1, stderr: '' })
  expect(why.stdout).toContain('addresses is missing for ')
  expect(await ko(...reader, 'why', 'elsewhere/web')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('value=elsewhere/web'),
  })

  await createPod('ovn-central-0', 'ovn-central', 'here')
  expect(await ko(...reader, 'nbctl', 'show')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/cannot \w+ resource "pods\/exec"/),
  })
})

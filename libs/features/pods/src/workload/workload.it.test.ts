import { podAnnotations } from '@kube-ovn/annotations'
import { cronJobs, daemonSets, deployments, events, jobs, statefulSets } from '@kube-ovn/kube-api/core'
import type { Resource } from '@kube-ovn/kube'
import { expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()

const { ipPool } = podAnnotations()
const ref = { namespace: 'default', name: 'db' }
const misplaced = { [ipPool.key]: '10.16.0.5' }

/** What a workload of one container makes its pods of. */
function specOf(resource: Resource): object {
  const labels = { app: 'db' }
  const restart = resource === jobs ? { restartPolicy: 'Never' } : {}
  const template = {
    metadata: { labels },
    spec: { ...restart, containers: [{ name: 'main', image: 'example.com/image' }] },
  }
  return resource === jobs ? { template } : { selector: { matchLabels: labels }, template }
}

/** Events as `kind/name type reason message count`, as one life of the controller after the other leaves them. */
async function toldInTwoLives(): Promise<readonly string[]> {
  for (let life = 0; life < 2; life++) {
    await using control = await cluster.startController()
    await control.settle()
  }
  const { items } = await cluster.client.list(events)
  return items.map(({ involvedObject: { kind, name }, type, reason, message, count }) => {
    return `${kind}/${name} ${type} ${reason} ${message} ${count}`
  })
}

it.each([deployments, statefulSets, daemonSets, jobs])(
  'tells that ip_pool has no effect on a $kind itself, once',
  async (resource) => {
    await cluster.client.create(resource, {
      apiVersion: `${resource.group}/v1`,
      kind: resource.kind,
      metadata: { ...ref, annotations: misplaced },
      spec: specOf(resource),
    })
    expect(await toldInTwoLives()).toEqual([
      `${resource.kind}/db Warning AnnotationIgnored ovn.kubernetes.io/ip_pool "10.16.0.5" has no effect on a ${resource.kind}: write it into spec.template.metadata.annotations 1`,
    ])
  },
)

it.each(['itself', 'its Jobs'])(
  'tells that ip_pool has no effect on a CronJob on %s, once',
  async (place) => {
    const annotations = { annotations: misplaced }
    const cronJob = await cluster.client.create(cronJobs, {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { ...ref, ...(place === 'itself' ? annotations : {}) },
      spec: {
        schedule: '@daily',
        jobTemplate: { ...(place === 'itself' ? {} : { metadata: annotations }), spec: specOf(jobs) },
      },
    })
    // Nothing makes Jobs here: they are made as the CronJob controller does.
    for (const name of ['db-1', 'db-2']) {
      const { uid = '' } = cronJob.metadata
      const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'db', uid, controller: true }
      await cluster.client.create(jobs, {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { ...ref, name, ...(place === 'itself' ? {} : annotations), ownerReferences: [owner] },
        spec: specOf(jobs),
      })
    }
    expect(await toldInTwoLives()).toEqual([
      'CronJob/db Warning AnnotationIgnored ovn.kubernetes.io/ip_pool "10.16.0.5" has no effect on a CronJob or the Jobs that it makes: write it into spec.jobTemplate.spec.template.metadata.annotations 1',
    ])
  },
)

it('follows what is edited by one event for each text, and says nothing of what is gone, or again', async () => {
  const told = async () => (await cluster.user.told('db')).map((text) => text.split(' has no')[0])
  const annotate = (pool: string | null) =>
    cluster.client.patch(deployments, ref, 'application/merge-patch+json', {
      metadata: { annotations: { [ipPool.key]: pool } },
    })
  const first = `AnnotationIgnored: ${ipPool.key} "10.16.0.5"`
  const second = `AnnotationIgnored: ${ipPool.key} "10.16.0.6"`
  {
    await using control = await cluster.startSettled()
    const kinds = { apiVersion: 'apps/v1', kind: deployments.kind }
    const metadata = { ...ref, annotations: misplaced }
    await cluster.client.create(deployments, { ...kinds, metadata, spec: specOf(deployments) })
    await control.settle()
    expect(await told()).toEqual([first])
    await annotate('10.16.0.6')
    await control.settle()
    expect((await told()).sort()).toEqual([first, second])
    const scaled = { spec: { replicas: 3 } }
    await cluster.client.patch(deployments, ref, 'application/merge-patch+json', scaled)
    await control.settle()
    const costs = await cluster.costs()
    expect(costs).toEqual({ transactions: 0, writes: ['create events', 'create events'] })
  }
  await using control = await cluster.startSettled()
  await annotate(null)
  await control.settle()
  await cluster.client.remove(deployments, ref)
  await control.settle()
  expect((await told()).sort()).toEqual([first, second])
  expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
})

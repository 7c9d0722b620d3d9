import { podAnnotations } from '@kube-ovn/annotations'
import { daemonSets, deployments, events, jobs, statefulSets } from '@kube-ovn/kube-api/core'
import type { Resource } from '@kube-ovn/kube'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { ControlCluster } from './testing/control-cluster.ts'

let cluster: ControlCluster
beforeAll(async () => {
  cluster = await ControlCluster.start()
})
afterAll(() => cluster[Symbol.asyncDispose]())
beforeEach(() => cluster.reset())

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

it('tells on a CronJob that ip_pool has no effect on the Jobs that it makes, once for all of them', async () => {
  for (const name of ['db-1', 'db-2']) {
    const owner = {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      name: 'db',
      uid: 'of-the-cron-job',
      controller: true,
    }
    await cluster.client.create(jobs, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { ...ref, name, annotations: misplaced, ownerReferences: [owner] },
      spec: specOf(jobs),
    })
  }
  expect(await toldInTwoLives()).toEqual([
    'CronJob/db Warning AnnotationIgnored ovn.kubernetes.io/ip_pool "10.16.0.5" has no effect on the Jobs of a CronJob: write it into spec.jobTemplate.spec.template.metadata.annotations 1',
  ])
})

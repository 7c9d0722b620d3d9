import { podAnnotations } from '@kube-ovn/annotations'
import { daemonSets, deployments, events, jobs, statefulSets } from '@kube-ovn/kube-api/core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { ControlCluster } from './testing/control-cluster.ts'

let cluster: ControlCluster
beforeAll(async () => {
  cluster = await ControlCluster.start()
})
afterAll(() => cluster[Symbol.asyncDispose]())
beforeEach(() => cluster.reset())

const { ipPool } = podAnnotations()

it.each([deployments, statefulSets, daemonSets, jobs])(
  'tells that ip_pool has no effect on a $kind itself, once',
  async (resource) => {
    const labels = { app: 'db' }
    const restart = resource === jobs ? { restartPolicy: 'Never' } : {}
    const template = {
      metadata: { labels },
      spec: { ...restart, containers: [{ name: 'main', image: 'example.com/image' }] },
    }
    const selector = resource === jobs ? {} : { selector: { matchLabels: labels } }
    const ref = { namespace: 'default', name: 'db' }
    await cluster.client.create(resource, {
      apiVersion: `${resource.group}/v1`,
      kind: resource.kind,
      metadata: { ...ref, annotations: { [ipPool.key]: '10.16.0.5' } },
      spec: { ...selector, template },
    })
    const told = `ovn.kubernetes.io/ip_pool "10.16.0.5" has no effect on a ${resource.kind}: write it into spec.template.metadata.annotations`
    for (let life = 0; life < 2; life++) {
      await using control = await cluster.startController()
      await control.settle()
      const { items } = await cluster.client.list(events)
      expect(items.map(({ message, type, reason, count }) => [type, reason, message, count])).toEqual([
        ['Warning', 'AnnotationIgnored', told, 1],
      ])
    }
  },
)

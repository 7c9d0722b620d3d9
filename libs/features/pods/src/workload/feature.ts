import { cronJobs, daemonSets, deployments, jobs, statefulSets } from '@kube-ovn/kube-api/core'
import type { KubeObject, ObjectChange, Resource } from '@kube-ovn/kube'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, Feature, ObjectTrigger } from '@kube-ovn/reconcile'
import type { ControlWorld } from '@kube-ovn/domains-control'

interface WorkloadSnapshot {
  readonly resource: Resource
  readonly object: KubeObject
}

/** By the names of their stores, which keep of annotations those alone that have no effect. */
const workloads = { deployments, statefulSets, daemonSets, jobs, cronJobs } as const
const names = Object.keys(workloads) as (keyof typeof workloads)[]

/** Tells users of annotations that have no effect where they stand. Keys are `kind/namespace/name`. */
export const workload: Feature<string, WorkloadSnapshot, ControlWorld> = {
  name: 'workload',
  kinds: [],
  triggers: names.map((name): ObjectTrigger<string, ControlWorld> => {
    const resource: Resource = workloads[name]
    return {
      on: 'object',
      resource,
      keys: ({ key, old, new: current }: ObjectChange) =>
        [old, current].some((object) => object?.metadata.annotations !== undefined)
          ? [`${resource.kind}/${key}`]
          : [],
    }
  }),
  observe(key, world) {
    const [kind, ...rest] = key.split('/')
    const name = names.find((one) => workloads[one].kind === kind)
    const object = name === undefined ? undefined : world[name].get(rest.join('/'))
    return name === undefined || object === undefined ? undefined : { resource: workloads[name], object }
  },
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredWorkload(snapshot)),
}

function desiredWorkload({ resource, object }: WorkloadSnapshot): Desired {
  const { namespace = '', name, uid = '', annotations = {} } = object.metadata
  const regarding = { resource, namespace, name, uid }
  const isCronJob = resource.kind === cronJobs.kind
  const place = isCronJob ? 'a CronJob or the Jobs that it makes' : `a ${resource.kind}`
  const template = isCronJob ? 'spec.jobTemplate.spec.template' : 'spec.template'
  const events = Object.entries(annotations).map(([key, value]) => {
    const message = `${key} ${JSON.stringify(value)} has no effect on ${place}: write it into ${template}.metadata.annotations`
    return { regarding, type: 'Warning', reason: 'AnnotationIgnored', message } as const
  })
  return { ...nothing, events }
}

import { appliedAnnotation } from '@kube-ovn/annotations'
import { cronJobs, daemonSets, deployments, jobs } from '@kube-ovn/kube-api/core'
import type { KubeObject, ObjectChange, Resource } from '@kube-ovn/kube'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, ObjectTrigger } from '@kube-ovn/reconcile'
import { trimCronJob, trimDeployment, trimWorkload, watched } from '@kube-ovn/domains-control'
import type { ControlFeature, ControlWorld, Watch } from '@kube-ovn/domains-control'

interface WorkloadSnapshot {
  readonly resource: Resource
  readonly object: KubeObject
}

/** Stores keep of annotations those alone that have no effect. */
const workloads: readonly Watch<KubeObject>[] = [
  { resource: deployments, trim: trimDeployment },
  ...[daemonSets, jobs].map((resource) => ({ resource, trim: trimWorkload })),
  { resource: cronJobs, trim: trimCronJob },
  watched.statefulSets,
]

/** Tells users of annotations that have no effect where they stand. Keys are `kind/namespace/name`. */
export const workload: ControlFeature<string, WorkloadSnapshot> = {
  name: 'workload',
  kinds: [],
  watches: workloads,
  triggers: workloads.map(({ resource }): ObjectTrigger<string, ControlWorld> => {
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
    const watch = workloads.find(({ resource }) => resource.kind === kind)
    const object = watch && world.store(watch).get(rest.join('/'))
    return watch === undefined || object === undefined ? undefined : { resource: watch.resource, object }
  },
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredWorkload(snapshot)),
}

function desiredWorkload({ resource, object }: WorkloadSnapshot): Desired {
  const { namespace = '', name, uid = '', annotations = {} } = object.metadata
  const regarding = { resource, namespace, name, uid }
  const isCronJob = resource.kind === cronJobs.kind
  const place = isCronJob ? 'a CronJob or the Jobs that it makes' : `a ${resource.kind}`
  const template = isCronJob ? 'spec.jobTemplate.spec.template' : 'spec.template'
  // What we applied has a mark of ours.
  const misplaced = Object.entries(annotations).filter(([key]) => key !== appliedAnnotation)
  const events = misplaced.map(([key, value]) => {
    const message = `${key} ${JSON.stringify(value)} has no effect on ${place}: write it into ${template}.metadata.annotations`
    return { regarding, type: 'Warning', reason: 'AnnotationIgnored', message } as const
  })
  return { ...nothing, events }
}

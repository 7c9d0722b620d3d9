import { daemonSets, deployments, jobs, statefulSets } from '@kube-ovn/kube-api/core'
import type { Workload } from '@kube-ovn/kube-api/core'
import type { ObjectChange, Resource, Store } from '@kube-ovn/kube'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, Feature, ObjectTrigger } from '@kube-ovn/reconcile'
import type { ControlWorld } from '../world.ts'
import { misplacedRequests } from './misplaced.ts'

interface WorkloadSnapshot {
  readonly resource: Resource
  readonly object: Workload
}

const resources: readonly Resource<Workload>[] = [deployments, statefulSets, daemonSets, jobs]

/** Tells users of annotations that have no effect where they stand. Keys are `kind/namespace/name`. */
export const workload: Feature<string, WorkloadSnapshot, ControlWorld> = {
  name: 'workload',
  kinds: [],
  triggers: resources.map((resource): ObjectTrigger<string, ControlWorld> => ({
    on: 'object',
    resource,
    keys: ({ key, old, new: current }: ObjectChange<Workload>) =>
      [old, current].some((object) => object !== undefined && isMisplaced(object))
        ? [`${resource.kind}/${key}`]
        : [],
  })),
  observe(key, world) {
    const [kind = '', namespace = '', name = ''] = key.split('/')
    const resource = resources.find((one) => one.kind === kind)
    const object = storeOf(kind, world)?.get(`${namespace}/${name}`)
    return resource === undefined || object === undefined ? undefined : { resource, object }
  },
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredWorkload(snapshot)),
}

function storeOf(kind: string, world: ControlWorld): Store<Workload> | undefined {
  switch (kind) {
    case deployments.kind:
      return world.deployments
    case statefulSets.kind:
      return world.statefulSets
    case daemonSets.kind:
      return world.daemonSets
    case jobs.kind:
      return world.jobs
    default:
      return undefined
  }
}

function isMisplaced(object: Workload): boolean {
  return Object.keys(misplacedRequests(object)).length > 0
}

function desiredWorkload({ resource, object }: WorkloadSnapshot): Desired {
  const { namespace = '', name, uid = '' } = object.metadata
  const regarding = { resource, namespace, name, uid }
  const events = Object.entries(misplacedRequests(object)).map(([key, value]) => {
    const message = `${key} ${JSON.stringify(value)} has no effect on a ${resource.kind}: write it into spec.template.metadata.annotations`
    return { regarding, type: 'Warning', reason: 'AnnotationIgnored', message } as const
  })
  return { ...nothing, events }
}

import type { ManifestObject, PlanAnswer, PlanRequest } from '@kube-ovn/assembly-controller'
import { leases, nodes, parseJson, stringifyJson } from '@kube-ovn/kube'
import { commandFailed, type Cluster, type PodContainer } from '../cluster.ts'
import { LeaderMissingError, PlanRefusedError } from '../errors.ts'
import { readAll } from '../facts.ts'
import { isLeaseHeld } from '../view/status-view.ts'
import { Appliance } from './applied.ts'
import { fieldsOf } from './manifest.ts'
import { podsOf } from './pods-of.ts'

export interface PlanQuestion {
  readonly objects: readonly ManifestObject[]
  readonly verb: 'apply' | 'delete'
  /** Of objects without one. */
  readonly namespace: string
}

export interface ToldPlan extends PlanAnswer {
  /** What else is to be known of it. */
  readonly notes: readonly string[]
}

/** Asks the controller that leads what would come of it. */
export async function askForPlan(cluster: Cluster, question: PlanQuestion): Promise<ToldPlan> {
  const leader = await findController(cluster)
  const { changes, notes, expanded } = await changesOf(cluster, question)
  const answer = await askLeader(cluster, leader, { version: 1, changes })
  return { ...answer, ignored: answer.ignored.filter((name) => !expanded.has(name)), notes }
}

/** The pod of the controller that leads. @throws LeaderMissingError */
async function findController({ client, namespace }: Cluster): Promise<PodContainer> {
  const lease = await client.get(leases, { namespace, name: 'kube-ovn-controller' })
  const [pod = ''] = (lease?.spec?.holderIdentity ?? '').split('_')
  if (isLeaseHeld(lease, Date.now()) && pod !== '')
    return { namespace, pod, container: 'kube-ovn-controller' }
  throw new LeaderMissingError(
    'kube-ovn-controller',
    '',
    `see why none leads: kubectl -n ${namespace} logs -l app=kube-ovn-controller --tail=50`,
  )
}

interface Changes extends Pick<PlanRequest, 'changes'> {
  readonly notes: readonly string[]
  /** Workloads in whose place their pods are asked about, as KIND NAMESPACE/NAME. */
  readonly expanded: ReadonlySet<string>
}

/** What is asked in place of objects of a manifest. */
export async function changesOf(
  cluster: Cluster,
  { objects, verb, namespace }: PlanQuestion,
): Promise<Changes> {
  const appliance = new Appliance(cluster, namespace)
  const nodeNames = (await readAll(cluster, nodes)).map(({ metadata }) => metadata.name)
  const changes: PlanRequest['changes'][number][] = []
  const notes: string[] = []
  const expanded = new Set<string>()
  for (const written of objects) {
    const resource = await appliance.resourceOf(written)
    const object = appliance.placed(written, resource)
    const { kind, metadata } = object
    const current = await cluster.client.get(resource, metadata)
    const title = `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`
    const pods = podsOf(object, nodeNames)
    if (verb === 'delete') {
      if (current === undefined) notes.push(`${title} is not there`)
      else changes.push({ verb, object })
      if (pods.length > 0) notes.push(`what becomes of the pods of ${title} is not told`)
      continue
    }
    const applied = await appliance.applied(object, resource)
    changes.push({ verb, object: current === undefined ? scheduled(applied, nodeNames) : applied })
    if (current === undefined && drawsAddress(object))
      notes.push(`${title} gets its address when it is created: the first of the range stands for it`)
    if (pods.length === 0) continue
    expanded.add(title)
    if (current === undefined) changes.push(...pods.map((pod) => ({ verb, object: pod })))
    else notes.push(`${title} is there: what its controller changes of its pods is not told`)
  }
  return { changes, notes, expanded }
}

/** A pod gets its port when it is on a node, whichever that is. */
function scheduled(object: ManifestObject, nodeNames: readonly string[]): ManifestObject {
  if (object.kind !== 'Pod') return object
  const spec = fieldsOf('spec' in object ? object.spec : undefined)
  const [nodeName = ''] = nodeNames
  return { ...object, ...{ spec: { nodeName, ...spec } } }
}

function drawsAddress(object: ManifestObject): boolean {
  const { clusterIP, type } = fieldsOf('spec' in object ? object.spec : undefined)
  return object.kind === 'Service' && clusterIP === undefined && type !== 'ExternalName'
}

const noContent = { values: {}, gets: {}, loses: {} }

async function askLeader(cluster: Cluster, leader: PodContainer, request: PlanRequest): Promise<PlanAnswer> {
  const command = ['node', '/kube-ovn/ask-plan.mjs']
  const output = await cluster.ask(leader, command, [Buffer.from(stringifyJson(request))])
  if (output.exitCode !== 0) throw commandFailed(leader, command, output)
  const answer = parseJson(output.stdout)
  const { problem } = fieldsOf(answer)
  if (typeof problem === 'string') throw new PlanRefusedError('plan', problem)
  const { rows, ...others } = answer as PlanAnswer
  // A controller of an earlier release does not tell what would be in rows.
  return { ...others, rows: rows.map((row) => ({ ...noContent, ...row })) }
}

import { KubeForbiddenError, pods, type KubeObject, type Pod, type Resource } from '@kube-ovn/kube'
import type { Cluster } from '../cluster.ts'
import { describeError } from '../describe-error.ts'
import type { AskedKind } from './asked-kind.ts'
import { policyUnmet } from './policy-unmet.ts'
import { warningsOf, whyFacts } from '../why/facts.ts'
import { stepsOf } from '../why/steps.ts'

/** Something that an object asks for and has not got. */
export interface Unmet {
  /** Where that is known from: a condition, an event, a step. */
  readonly from: string
  readonly what: string
}

/** Conditions that are bad when they are true; of others it is bad to be false. */
const badWhenTrue: ReadonlySet<string> = new Set([
  'Error',
  'FieldsIgnored',
  'MemoryPressure',
  'DiskPressure',
  'PIDPressure',
  'NetworkUnavailable',
])

interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
}

/** What an object lacks; nothing of what is no object of the API. */
export async function unmetOf(cluster: Cluster, asked: AskedKind, key: string): Promise<readonly Unmet[]> {
  if ('feature' in asked || asked.resource === undefined) return []
  const { kind, resource } = asked
  const [name = '', namespace] = key.split('/').toReversed()
  if (resource.namespaced !== (namespace !== undefined))
    return [
      {
        from: 'the question',
        what: resource.namespaced
          ? `write the namespace too: ${kind.toLowerCase()}/NAMESPACE/${name}`
          : `it has no namespace: ${kind.toLowerCase()}/${name}`,
      },
    ]
  try {
    const where = { ...(namespace !== undefined && { namespace }), name }
    const object = await cluster.client.get(resource, where)
    if (object === undefined) return [{ from: 'the API', what: 'there is no such object' }]
    const lacks = [
      ...(await stepsMissing(cluster, resource, object)),
      ...conditionsUnmet(object),
      ...(await policyUnmet(cluster, resource.kind, object)).map(({ field, what }) => ({
        from: field,
        what,
      })),
    ]
    const warnings = await warningsOf(cluster, { kind: resource.kind, ...where })
    // Events outlive what they tell of: those of a pod that runs are history, and not ours.
    const telling =
      lacks.length > 0
        ? warnings
        : warnings.filter(({ by }) => by.startsWith('kube-ovn') && resource.kind !== pods.kind)
    return withoutRepeats([
      ...lacks,
      ...telling
        .filter(({ message }) => !lacks.some(({ what }) => what === message))
        .map(({ reason, message, by, age }) => ({
          from: `event ${reason}`,
          what: `${message} (${by}, ${age === '' ? 'some time' : age} ago)`,
        })),
    ])
  } catch (error) {
    if (!(error instanceof KubeForbiddenError)) throw error
    return [{ from: 'the API', what: describeError(error) }]
  }
}

/** Several conditions often say the same. */
function withoutRepeats(unmet: readonly Unmet[]): readonly Unmet[] {
  return unmet.filter(({ what }, index) => unmet.findIndex((one) => one.what === what) === index)
}

/** What conditions say against it. */
export function conditionsUnmet(object: KubeObject & { readonly status?: unknown }): readonly Unmet[] {
  const { conditions = [] } = (object.status ?? {}) as { readonly conditions?: readonly Condition[] }
  return conditions.flatMap(({ type = '', status, reason = '', message = '' }) =>
    status === (badWhenTrue.has(type) ? 'True' : 'False')
      ? [{ from: `condition ${type}`, what: message || reason || `it is ${status}` }]
      : [],
  )
}

async function stepsMissing(
  cluster: Cluster,
  resource: Resource,
  object: KubeObject,
): Promise<readonly Unmet[]> {
  if (resource.kind !== pods.kind) return []
  const missing = stepsOf(await whyFacts(cluster, object as Pod)).find(({ state }) => state === 'missing')
  if (missing === undefined) return []
  const { step, detail, since, by } = missing
  const long = since === undefined ? '' : ` for ${since}`
  return [{ from: `step ${step}`, what: `missing${long}: ${detail}; ${by} owes it` }]
}

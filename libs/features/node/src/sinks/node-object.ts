import {
  FragmentConflictError,
  mergeEntries,
  nothingToDo,
  type Owner,
  type Sink,
  type SinkKind,
  type SinkPlan,
  type Wanted,
} from '@kube-ovn/fragments'
import type { Informer } from '@kube-ovn/kube'
import type { Condition, Node } from '@kube-ovn/kube-api/core'
import type { Clock } from '@kube-ovn/time'
import { isDeepStrictEqual } from 'node:util'

/** A condition without its times. */
export type ConditionFacts = Required<Pick<Condition, 'type' | 'status' | 'reason' | 'message'>>

/** What a feature has to tell of the node by its object. What else the object says is none of its business. */
export type NodeStatement = NodeMarks | { readonly condition: ConditionFacts }

/** `null` is that there be none. */
type Entries = Readonly<Record<string, string | null>>

interface NodeMarks {
  readonly annotations?: Entries
  readonly labels?: Entries
}

const annotations = 'annotations'
const labels = 'labels'
const marks = [annotations, labels] as const
type Mark = (typeof marks)[number]

export const nodeObject: SinkKind<NodeStatement> = {
  name: 'node-object',
  targets: (fragment) =>
    'condition' in fragment
      ? [conditionTarget(fragment.condition.type)]
      : marks.filter((kind) => fragment[kind] !== undefined),
  // The types say all that the API server asks for.
  validate: () => undefined,
}

function conditionTarget(type: string): string {
  return `condition ${type}`
}

/** Patches this node's object by the type that merges lists of conditions by their type; what comes of it is observed. */
export type NodePatch = (patch: object, subresource?: 'status') => Promise<void>

export interface NodeObjectSinkOptions {
  readonly nodeName: string
  readonly nodes: Pick<Informer<Node>, 'store' | 'onChange'>
  readonly patchNode: NodePatch
  readonly clock: Pick<Clock, 'now'>
}

/** Writes annotations, labels and conditions of this node's object: only what differs. What nobody wants any more stays as it is. */
export class NodeObjectSink implements Sink<NodeStatement> {
  readonly kind = nodeObject
  readonly #options: NodeObjectSinkOptions

  constructor(options: NodeObjectSinkOptions) {
    this.#options = options
  }

  plan(target: string, { claims }: Wanted<NodeStatement>): SinkPlan {
    if (claims.length === 0) return nothingToDo
    const node = this.#options.nodes.store.get(this.#options.nodeName)
    // Its coming is told.
    if (node === undefined) return { ...nothingToDo, isWaiting: true }
    const mark = marks.find((one) => one === target)
    return mark === undefined ? this.#planCondition(node, claims) : this.#planMarks(mark, node, claims)
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    const { nodes, nodeName } = this.#options
    return nodes.onChange(({ key, old, new: now }) => {
      if (key !== nodeName) return
      for (const mark of marks)
        if (!isDeepStrictEqual(old?.metadata[mark], now?.metadata[mark])) listener(mark)
      const [before, after] = [old, now].map((node) => node?.status?.conditions ?? [])
      if (isDeepStrictEqual(before, after)) return
      for (const type of new Set([...(before ?? []), ...(after ?? [])].map((one) => one.type)))
        listener(conditionTarget(type))
    })
  }

  #planMarks(mark: Mark, node: Node, claims: Wanted<NodeStatement>['claims']): SinkPlan {
    const { entries, refused } = mergeEntries(claims, mark, (fragment): Entries =>
      'condition' in fragment ? {} : (fragment[mark] ?? {}),
    )
    const present = node.metadata[mark] ?? {}
    const differing = [...entries].filter(([key, value]) => (present[key] ?? null) !== value)
    const what = mark.slice(0, -1)
    return {
      changes: differing.map(([key, value]) =>
        value === null ? `no ${what} ${key}` : `${what} ${key}=${value}`,
      ),
      refused,
      carryOut: () => this.#options.patchNode({ metadata: { [mark]: Object.fromEntries(differing) } }),
    }
  }

  #planCondition(node: Node, claims: Wanted<NodeStatement>['claims']): SinkPlan {
    const [held, ...rivals] = claims.flatMap(({ owner, fragment }) =>
      'condition' in fragment ? [{ owner, condition: fragment.condition }] : [],
    )
    if (held === undefined) return nothingToDo
    const { condition: wanted, owner: holder } = held
    const refused = new Map<Owner, FragmentConflictError>()
    for (const { owner, condition } of rivals) {
      if (isSameCondition(condition, wanted)) continue
      const details = { field: conditionTarget(wanted.type), value: condition.status, holder }
      refused.set(owner, new FragmentConflictError({ ...details, cure: 'tell it by another condition' }))
    }
    const actual = node.status?.conditions?.find(({ type }) => type === wanted.type)
    if (isSameCondition(actual, wanted)) return { ...nothingToDo, refused }
    return {
      changes: [`condition ${wanted.type}=${wanted.status} (${wanted.reason})`],
      refused,
      carryOut: async () => {
        const now = new Date(this.#options.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
        const lastTransitionTime = actual?.status === wanted.status ? (actual.lastTransitionTime ?? now) : now
        await this.#options.patchNode(
          { status: { conditions: [{ ...wanted, lastTransitionTime, lastHeartbeatTime: now }] } },
          'status',
        )
      },
    }
  }
}

/** Whether two conditions say the same, whenever they did. */
export function isSameCondition(actual: Condition | undefined, wanted: ConditionFacts): boolean {
  return (
    actual !== undefined &&
    actual.status === wanted.status &&
    actual.reason === wanted.reason &&
    actual.message === wanted.message
  )
}

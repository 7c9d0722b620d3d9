import type { KubeObject } from '@kube-ovn/kube'
import type { ChartObject } from './chart.ts'

/** What an account may do by one verb of one rule. */
export interface Right {
  /** `NAMESPACE/NAME` of the ServiceAccount. */
  readonly account: string
  readonly verb: string
  /** Which gives it: `KIND/NAME`. */
  readonly binding: string
  /** API group; empty for the core. */
  readonly group: string
  /** Plural, with the subresource if there is one: `pods/status`. */
  readonly resource: string
  /** The only namespace in which it holds. */
  readonly namespace: string | undefined
  /** The only objects for which it holds; all when empty. */
  readonly names: readonly string[]
}

/** A request of an account, as far as rights are concerned. */
export interface RightUse {
  readonly account: string
  readonly verb: string
  readonly group: string
  readonly resource: string
  /** Empty for all namespaces, and for what is in none. */
  readonly namespace: string
  /** Empty for a request about a collection. */
  readonly name: string
}

interface Rule {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

interface Role extends KubeObject {
  readonly kind: string
  readonly rules: readonly Rule[]
}

interface Binding extends KubeObject {
  readonly kind: string
  readonly roleRef: { readonly kind: string; readonly name: string }
  readonly subjects: readonly { readonly kind: string; readonly name: string; readonly namespace: string }[]
}

/** Yields the rights that roles and bindings among these objects give to accounts, one for each verb of each resource. */
export function rightsOf(objects: readonly ChartObject[]): readonly Right[] {
  const roles = objects.filter(isRole)
  return objects.filter(isBinding).flatMap((binding) => {
    const { kind, name } = binding.roleRef
    const namespace = binding.kind === 'RoleBinding' ? binding.metadata.namespace : undefined
    const role = roles.find(
      (one) =>
        one.kind === kind &&
        one.metadata.name === name &&
        (kind === 'ClusterRole' || one.metadata.namespace === namespace),
    )
    return binding.subjects
      .filter((subject) => subject.kind === 'ServiceAccount')
      .flatMap((subject) =>
        rightsOfRules(role?.rules ?? [], {
          account: `${subject.namespace}/${subject.name}`,
          binding: `${binding.kind}/${binding.metadata.name}`,
          namespace,
        }),
      )
  })
}

/** Yields the rights that no request needed. */
export function unusedRights(rights: readonly Right[], uses: readonly RightUse[]): readonly Right[] {
  return rights.filter((right) => !uses.some((use) => allows(right, use)))
}

/** `kube-system/ovn may watch vpcs.kubeovn.io` */
export function describeRight(right: Omit<Right, 'binding'>): string {
  const { account, verb, group, resource, namespace, names } = right
  const [plural = '', subresource] = resource.split('/')
  const what = [group === '' ? plural : `${plural}.${group}`, subresource].filter(Boolean).join('/')
  const which = names.length === 0 ? '' : ` ${names.join(', ')}`
  return `${account} may ${verb} ${what}${which}${namespace === undefined ? '' : ` in ${namespace}`}`
}

function rightsOfRules(
  rules: readonly Rule[],
  whose: Pick<Right, 'account' | 'binding' | 'namespace'>,
): readonly Right[] {
  return rules.flatMap(({ apiGroups = [], resources = [], verbs, resourceNames: names = [] }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.map((verb): Right => ({ ...whose, verb, group, resource, names })),
      ),
    ),
  )
}

function allows(right: Right, use: RightUse): boolean {
  return (
    right.account === use.account &&
    right.verb === use.verb &&
    right.group === use.group &&
    right.resource === use.resource &&
    (right.namespace === undefined || right.namespace === use.namespace) &&
    (right.names.length === 0 || right.names.includes(use.name))
  )
}

function isRole(object: ChartObject): object is ChartObject & Role {
  return object.kind === 'Role' || object.kind === 'ClusterRole'
}

function isBinding(object: ChartObject): object is ChartObject & Binding {
  return object.kind === 'RoleBinding' || object.kind === 'ClusterRoleBinding'
}

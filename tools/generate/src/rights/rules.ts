import type { OwnRight } from '@kube-ovn/assembly-controller'
import type { Declarations } from '@kube-ovn/domains-control'
import type { Resource } from '@kube-ovn/kube'

/** A rule of a ClusterRole. */
interface Rule {
  readonly group: string
  readonly resources: readonly string[]
  readonly names?: readonly string[]
  readonly verbs: readonly string[]
}

/** What holds in the whole cluster, what of that only with a value of the chart, by this, and what in the controller's own namespace alone. */
export function placedRulesOf(
  { watches, rights }: Pick<Declarations, 'watches' | 'rights'>,
  own: readonly OwnRight[],
): {
  readonly cluster: readonly Rule[]
  readonly conditional: ReadonlyMap<string, readonly Rule[]>
  readonly namespace: readonly Rule[]
} {
  const watched = Map.groupBy(watches, ({ namespace = 'all' }) => namespace)
  const byValue = Map.groupBy(rights, ({ onlyWith = '' }) => onlyWith)
  const written = Map.groupBy(byValue.get('') ?? [], ({ namespace = 'all' }) => namespace)
  byValue.delete('')
  const at = (place: 'all' | 'own') => ({
    watches: watched.get(place) ?? [],
    rights: written.get(place) ?? [],
  })
  const conditional = [...byValue].map(
    ([value, some]) => [value, rulesOf({ watches: [], rights: some }, [])] as const,
  )
  return {
    cluster: rulesOf(at('all'), own),
    conditional: new Map(conditional),
    namespace: rulesOf(at('own'), []),
  }
}

/**
 * What the declarations amount to: what is watched is listed and watched, and what is patched is read again by itself when
 * the API server has another version of it. One rule for all resources of a group with which the same is done.
 */
function rulesOf(
  { watches, rights }: Pick<Declarations, 'watches' | 'rights'>,
  own: readonly OwnRight[],
): readonly Rule[] {
  const verbs = new Map<
    string,
    { readonly group: string; readonly path: string; readonly verbs: Set<string> }
  >()
  function allow({ group, plural }: Resource, subresource: string | undefined, all: readonly string[]): void {
    const path = subresource === undefined ? plural : `${plural}/${subresource}`
    const known = verbs.get(`${group}/${path}`) ?? { group, path, verbs: new Set() }
    for (const verb of all) known.verbs.add(verb)
    verbs.set(`${group}/${path}`, known)
  }
  for (const { resource } of watches) allow(resource, undefined, ['list', 'watch'])
  for (const { resource, subresource, verbs: written } of rights) {
    allow(resource, subresource, written)
    // Who changes an object reads it again when somebody else has changed it meanwhile.
    if (written.includes('patch')) allow(resource, undefined, ['get'])
  }
  for (const { resource, verbs: all, names } of own) if (names === undefined) allow(resource, undefined, all)
  const rules = new Map<string, { group: string; resources: string[]; verbs: readonly string[] }>()
  for (const { group, path, verbs: all } of verbs.values()) {
    const sorted = [...all].sort()
    const key = `${group} ${sorted.join()}`
    const rule = rules.get(key) ?? { group, resources: [], verbs: sorted }
    rule.resources.push(path)
    rules.set(key, rule)
  }
  const named = own.flatMap(({ resource: { group, plural }, verbs: all, names }) =>
    names === undefined ? [] : [{ group, resources: [plural], names, verbs: [...all].sort() }],
  )
  const merged = [...rules.values()].map((rule) => ({ ...rule, resources: rule.resources.sort() }))
  return [...merged, ...named].sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1))
}

function textOf({ group, resources, verbs }: Rule): string {
  return [group, resources, verbs].join(' ')
}

/** Rules as the chart has them. */
export function renderRules(rules: readonly Rule[]): string {
  const lines = rules.flatMap(({ group, resources, names, verbs }) => [
    `  - apiGroups: [${group === '' ? "''" : group}]`,
    `    resources: [${resources.join(', ')}]`,
    ...(names === undefined ? [] : [`    resourceNames: [${names.join(', ')}]`]),
    `    verbs: [${verbs.join(', ')}]`,
  ])
  return lines.map((line) => `${line}\n`).join('')
}

/** Those that the chart gives only with some value of it. */
export function renderConditional(conditional: ReadonlyMap<string, readonly Rule[]>): string {
  return [...conditional]
    .map(([value, rules]) => `  {{- if .Values.${value} }}\n${renderRules(rules)}  {{- end }}\n`)
    .join('')
}

import type { Desired } from '@kube-ovn/reconcile'

type ShownRow = Readonly<Record<string, unknown>>

/** Rows as a table of expectations has them: `row` is their kind and natural key. */
export function shownRows({ rows }: Desired): readonly ShownRow[] {
  return rows.map(({ kind, id, columns }) => ({ row: `${kind.name}/${id}`, ...columns }))
}

/** Members as `kind/id column: value`. */
export function shownMembers({ members }: Desired): readonly string[] {
  return members.map((member) => {
    const { of, column, value } = member
    const shown = typeof value === 'object' ? `${value.kind}/${value.id}` : String(value ?? '(none)')
    if ('key' in member)
      return `${of.kind === 'singleton' ? of.id : `${of.kind}/${of.id}`} ${column}: ${member.key}=${shown}`
    return `${of.kind}/${of.id} ${column}: ${shown}`
  })
}

/** Patches as what they are about and what they say. */
export function shownPatches({ patches }: Desired): readonly ShownRow[] {
  return patches.map(({ resource, namespace, name, subresource, merge, remove }) => ({
    object: [resource.plural, namespace, name, subresource].filter((part) => part !== undefined).join('/'),
    ...(remove === true ? { remove } : {}),
    ...merge,
  }))
}

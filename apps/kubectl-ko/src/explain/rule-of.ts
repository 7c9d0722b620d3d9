import { originOfRow } from '@kube-ovn/policy/explain'
import type { Row } from '../rows.ts'

/** Which part of a policy a row is made of, and what for; empty for what is no policy's. */
export function ruleOf(row: Row, ids: ReadonlyMap<string, string>): string {
  const text = (column: string): string => {
    const value = row[column]
    return typeof value === 'string' ? value : ''
  }
  const isAcl = text('match') !== '' && typeof row['tier'] === 'number'
  const origin = originOfRow({
    ...{ owner: ids.get('owner') ?? '', id: ids.get('id') ?? '', name: text('name') },
    ...(isAcl && {
      acl: {
        ...{ direction: text('direction'), action: text('action'), match: text('match') },
        ...{ tier: Number(row['tier']), priority: Number(row['priority']) },
      },
    }),
  })
  if (origin === undefined) return ''
  return origin.field === undefined ? origin.role : `${origin.field}: ${origin.role}`
}

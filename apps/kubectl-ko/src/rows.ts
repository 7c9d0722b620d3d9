import type { Cluster, PodContainer } from './cluster.ts'
import { databases } from './databases.ts'

/** A value of a column: an atom, the list of a set, or the pairs of a map. */
type RowValue =
  string | number | boolean | readonly (string | number | boolean)[] | readonly (readonly [string, string])[]
export type Row = Readonly<Record<string, RowValue>>

const tools = {
  nb: ['ovn-nbctl', '--no-leader-only', `--db=${databases.nb.socket}`],
  sb: ['ovn-sbctl', '--no-leader-only', `--db=${databases.sb.socket}`],
  ovs: ['ovs-vsctl', '--no-wait'],
} as const

/** Reads rows of a database by its own tool, in a pod where that is. */
export async function readRows(
  cluster: Cluster,
  where: PodContainer,
  database: keyof typeof tools,
  table: string,
  columns: readonly string[],
  conditions: readonly string[] = [],
): Promise<readonly Row[]> {
  const text = await cluster.tell(where, [
    ...tools[database],
    '--timeout=30',
    '--format=json',
    `--columns=${columns.join(',')}`,
    ...(conditions.length === 0 ? ['list', table] : ['find', table, ...conditions]),
  ])
  return parseRows(text)
}

/** Reads what `--format=json` prints; nothing is printed where a table is empty. */
export function parseRows(text: string): readonly Row[] {
  if (text.trim() === '') return []
  const { headings, data } = JSON.parse(text) as {
    readonly headings: readonly string[]
    readonly data: readonly (readonly unknown[])[]
  }
  return data.map((cells) =>
    Object.fromEntries(headings.map((heading, index) => [heading, plainValue(cells[index])])),
  )
}

/** Takes a value of RFC 7047 out of its notation. */
function plainValue(value: unknown): RowValue {
  if (!Array.isArray(value)) return value as RowValue
  const [tag, content] = value as [unknown, unknown]
  if (tag === 'uuid' || tag === 'named-uuid') return String(content)
  if (tag === 'set') return (content as readonly unknown[]).map((item) => plainValue(item) as string)
  return (content as readonly (readonly [unknown, unknown])[]).map(
    ([key, item]) => [String(plainValue(key)), String(plainValue(item))] as const,
  )
}

import type { KubeObject, LabelSelector } from '@kube-ovn/kube-api/core'
import type { Family } from '@kube-ovn/ip'
import type { Random } from './random.ts'

/** A selector of pods, or with the other keys of namespaces. */
export function drawSelector(random: Random, of: 'pods' | 'namespaces'): LabelSelector {
  const [key, values] =
    of === 'pods' ? (['app', ['web', 'db', 'cache'] as const] as const) : (['team', ['red', 'blue']] as const)
  const other = of === 'pods' ? 'tier' : 'env'
  const value = random.among(values) ?? ''
  const shape = random.between(0, 5)
  if (shape === 0) return {}
  if (shape <= 2) return { matchLabels: { [key]: value } }
  const operator = random.of('In', 'NotIn', 'Exists', 'DoesNotExist')
  const isList = operator === 'In' || operator === 'NotIn'
  const expression = { key: isList ? key : other, operator, ...(isList ? { values: [value] } : {}) }
  return { matchExpressions: [expression], ...random.maybe(0.3, () => ({ matchLabels: { [key]: value } })) }
}

/** A prefix with pods, nodes or others in it. */
export function drawPrefix(random: Random, family: Family): string {
  if (family === 4)
    return random.of(
      '10.16.0.0/30',
      '10.16.0.0/24',
      '10.0.0.0/8',
      '0.0.0.0/0',
      '172.18.0.0/16',
      '203.0.113.0/24',
    )
  return random.of(
    ...([
      'fd00:10:16::/125',
      'fd00:10:16::/120',
      'fd00::/16',
      '::/0',
      'fd00:18::/64',
      '2001:db8::/32',
    ] as const),
  )
}

export function changeOne<T>(random: Random, list: readonly T[], change: (one: T) => T): readonly T[] {
  const at = random.between(0, list.length - 1)
  return list.map((one, index) => (index === at ? change(one) : one))
}

export function withoutOne<T>(random: Random, list: readonly T[]): readonly T[] {
  const at = random.between(0, list.length - 1)
  return list.filter((_one, index) => index !== at)
}

/** The object with further annotations. */
export function annotated<T extends KubeObject>(object: T, annotations: Readonly<Record<string, string>>): T {
  const { metadata } = object
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } }
}

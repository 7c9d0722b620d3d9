import { readdirSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Stack } from '../cluster/topology.ts'
import { repository } from '../paths.ts'
import type { ApiClient, ApiObject } from './client.ts'

const examples = join(repository, 'docs/examples')

/** Reads the objects of a manifest. */
export function parseManifests(text: string): ApiObject[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as ApiObject | null)
    .filter((object) => object !== null)
}

/** What policies say of addresses that nobody has is about nobody, and is no reason to say something else. */
const policies: readonly string[] = ['NetworkPolicy', 'EgressFirewall']

/** The objects of an example of the documentation, e.g. `01-two-subnets`, with the families that a cluster has. */
export function readExample(name: string, stack: Stack): ApiObject[] {
  const manifest = parseManifests(readFileSync(join(examples, `${name}.yaml`), 'utf8'))
  return manifest.map((object) =>
    policies.includes(object.kind ?? '') ? object : withinStack(object, stack),
  )
}

/**
 * Leaves out of an object the addresses whose family the stack lacks: from `10.0.0.5,fd00::5;10.0.0.6,fd00::6`, from lists, and
 * fields and items of lists that have nothing else. Other text stays as it is.
 */
export function withinStack<T extends object>(object: T, stack: Stack): T {
  if (stack === 'dual') return object
  // An object is more than its addresses.
  return (without(object, stack === 'ipv4' ? 6 : 4) ?? {}) as T
}

/** What is left of a value; `undefined` for one that had addresses of the family and nothing else. */
function without(value: unknown, family: 4 | 6): unknown {
  if (typeof value === 'string') return isAddressList(value) ? withoutAddresses(value, family) : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value))
    return value.map((item) => without(item, family)).filter((item) => item !== undefined)
  const fields = Object.entries(value)
  const left = fields.flatMap(([key, field]: [string, unknown]) => {
    const rest = without(field, family)
    return rest === undefined ? [] : [[key, rest] as const]
  })
  return left.length === 0 && fields.length > 0 ? undefined : Object.fromEntries(left)
}

function withoutAddresses(text: string, family: 4 | 6): string | undefined {
  const kept = text.split(';').map((entry) =>
    entry
      .split(',')
      .filter((member) => familyOf(member) !== family)
      .join(','),
  )
  return kept.every((entry) => entry === '') ? undefined : kept.join(';')
}

function isAddressList(text: string): boolean {
  return text.split(/[;,]/).every((member) => familyOf(member) !== 0)
}

/** 4 or 6 for an address, a prefix or a range; 0 for anything else. */
function familyOf(text: string): number {
  const [first = '', last = first] = text.replace(/\/\d+$/, '').split('..')
  return isIP(first) === isIP(last) ? isIP(first) : 0
}

/** All examples by name, in the order in which they are applied. */
export function listExamples(): string[] {
  return readdirSync(examples)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort()
}

/** Applies objects in the order given, so that a namespace can precede what is in it. */
export async function applyAll(api: ApiClient, objects: readonly ApiObject[]): Promise<void> {
  for (const object of objects) await api.apply(object)
}

/** Deletes objects in reverse order. */
export async function deleteAll(api: ApiClient, objects: readonly ApiObject[]): Promise<void> {
  for (const object of [...objects].reverse()) await api.delete(object)
}

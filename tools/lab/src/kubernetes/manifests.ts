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

/** The objects of an example of the documentation, e.g. `01-two-subnets`, with the families that a cluster has. */
export function readExample(name: string, stack: Stack): ApiObject[] {
  const manifest = parseManifests(readFileSync(join(examples, `${name}.yaml`), 'utf8'))
  const reviver = (_key: string, value: unknown): unknown =>
    typeof value === 'string' ? withinStack(value, stack) : value
  return manifest.map((object) => JSON.parse(JSON.stringify(object), reviver) as ApiObject)
}

/** Leaves out the members of a list of addresses or prefixes whose family the stack lacks; other text stays as it is. */
function withinStack(text: string, stack: Stack): string {
  if (stack === 'dual') return text
  const members = text.split(',')
  const families = members.map((member) => isIP(member.replace(/\/\d+$/, '')))
  if (members.length < 2 || families.includes(0)) return text
  return members.filter((_, index) => families[index] === (stack === 'ipv4' ? 4 : 6)).join(',')
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

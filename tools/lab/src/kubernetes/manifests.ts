import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { repository } from '../paths.ts'
import type { ApiClient, ApiObject } from './client.ts'

const examples = join(repository, 'docs/examples')

/** Reads the objects of a manifest. */
export function parseManifests(text: string): ApiObject[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as ApiObject | null)
    .filter((object) => object !== null)
}

/** The objects of an example of the documentation, e.g. `01-two-subnets`. */
export function readExample(name: string): ApiObject[] {
  return parseManifests(readFileSync(join(examples, `${name}.yaml`), 'utf8'))
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

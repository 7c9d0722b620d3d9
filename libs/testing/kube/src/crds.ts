import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  customResourceDefinitions,
  KubeNotFoundError,
  type CustomResourceDefinition,
  type KubeClient,
  type Resource,
} from '@kube-ovn/kube'
import { parseAllDocuments } from 'yaml'
import { repository } from './cache-directory.ts'
import { FixtureError } from './errors.ts'

const SERVED_MS = 30_000

/** Definitions of our chart. */
export const chartCrds = join(repository, 'helm/kube-ovn/crds')

/** Definitions of other projects whose objects the controller reads where there are any: of Multus, KubeVirt and the network policy API. */
export const foreignCrds = join(import.meta.dirname, '../crds')

/** Reads all definitions in YAML files, or in the files of directories. */
export async function readDefinitions(
  paths: readonly string[],
): Promise<readonly CustomResourceDefinition[]> {
  const files = (await Promise.all(paths.map(filesOf))).flat()
  const documents = (await Promise.all(files.map(readDocuments))).flat()
  return documents.filter(isDefinition)
}

/** Applies definitions, and waits until the API server answers for each. */
export async function applyDefinitions(
  client: KubeClient,
  definitions: readonly CustomResourceDefinition[],
): Promise<void> {
  await Promise.all(definitions.map((definition) => applyDefinition(client, definition)))
}

async function applyDefinition(client: KubeClient, definition: CustomResourceDefinition): Promise<void> {
  const { name } = definition.metadata
  const options = { fieldManager: 'kube-ovn-test', force: true }
  await client.patch(customResourceDefinitions, { name }, 'application/apply-patch+yaml', definition, options)
  const { group, scope, names, versions } = definition.spec
  for (const version of versions.filter(({ served }) => served)) {
    await waitUntilServed(client, {
      group,
      version: version.name,
      kind: names.kind,
      plural: names.plural,
      namespaced: scope === 'Namespaced',
    })
  }
}

/** The condition Established comes before the server answers, so the answer is what is waited for. */
async function waitUntilServed(client: KubeClient, resource: Resource): Promise<void> {
  const deadlineMs = performance.now() + SERVED_MS
  for (;;) {
    try {
      await client.list(resource, { limit: 1 })
      return
    } catch (error) {
      if (!(error instanceof KubeNotFoundError) || performance.now() > deadlineMs) throw error
      await delay(20)
    }
  }
}

async function filesOf(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const names = (await readdir(path)).filter((name) => /\.ya?ml$/.test(name))
  return names.map((name) => join(path, name))
}

async function readDocuments(path: string): Promise<unknown[]> {
  const documents = parseAllDocuments(await readFile(path, 'utf8'))
  return [...documents].map((document) => {
    const [error] = document.errors
    if (error !== undefined) {
      throw new FixtureError('YAML cannot be parsed', {
        what: path,
        output: error.message,
        cure: 'correct the file',
      })
    }
    return document.toJS() as unknown
  })
}

function isDefinition(document: unknown): document is CustomResourceDefinition {
  return (
    typeof document === 'object' &&
    document !== null &&
    'kind' in document &&
    document.kind === customResourceDefinitions.kind
  )
}

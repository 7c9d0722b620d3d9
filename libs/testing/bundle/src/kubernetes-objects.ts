import { stringify } from 'yaml'

interface GroupList {
  readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[]
}

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[]
}

interface Listed {
  readonly items: readonly { readonly metadata: { readonly managedFields?: unknown } }[]
}

/** What is in a Secret concerns no reader of a bundle. */
const leftOut: ReadonlySet<string> = new Set(['v1/secrets'])

/**
 * Reads every object of a cluster that can be listed, but Secrets: a file of YAML for each resource that has any.
 *
 * @param read yields the body of the answer to a GET request, as text
 */
export async function readObjects(
  read: (path: string) => Promise<string>,
): Promise<Readonly<Record<string, string>>> {
  const { groups } = JSON.parse(await read('/apis')) as GroupList
  const versions = ['v1', ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)]
  const files = await Promise.all(versions.map((version) => readVersion(read, version)))
  return Object.fromEntries(files.flat())
}

async function readVersion(
  read: (path: string) => Promise<string>,
  version: string,
): Promise<readonly (readonly [string, string])[]> {
  const root = version === 'v1' ? '/api/v1' : `/apis/${version}`
  const { resources } = JSON.parse(await read(root)) as ResourceList
  const listed = resources.filter(
    ({ name, verbs }) => verbs.includes('list') && !leftOut.has(`${version}/${name}`),
  )
  const files = await Promise.all(
    listed.map(async ({ name }) => {
      const { items } = JSON.parse(await read(`${root}/${name}`)) as Listed
      return [`objects/${name}${version === 'v1' ? '' : `.${version.split('/')[0]}`}.yaml`, items] as const
    }),
  )
  return files
    .filter(([, items]) => items.length > 0)
    .map(([path, items]) => [path, items.map((item) => `---\n${stringify(withoutManagers(item))}`).join('')])
}

function withoutManagers(object: Listed['items'][number]): object {
  const { managedFields: _dropped, ...metadata } = object.metadata
  return { ...object, metadata }
}
